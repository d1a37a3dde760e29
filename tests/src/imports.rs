//! Determines which files of a crate import which others, from their syntax trees (parsed with `syn`).
//!
//! An import is followed through all `use` declarations to the file that defines the item. Re-exports (`pub use`) do
//! not count as imports of the re-exporting module. Tests are ignored. The contents of macro calls count, too: the
//! names that they define, and paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A module, by its path from the root of the crate.
pub type Module = Vec<String>;

/// Maximum number of declarations through which an import is followed.
const MAX_STEPS: usize = 16;

/// Definitions and imports of a file.
#[derive(Default)]
struct File {
    defines: BTreeSet<String>,
    /// Names that `use` declarations import, and the paths that they refer to; `*` for all names of a module.
    uses: Vec<(String, Vec<String>)>,
    /// Paths used in the file, including those of private `use` declarations.
    paths: Vec<Vec<String>>,
}

/// Returns the files of a crate, each with the files that it imports.
///
/// # Panics
/// If a file cannot be read or is not valid Rust.
pub fn of(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    read(src, &[], &mut files);
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let imported = |module: &Module, file: &File| {
        let found = file.paths.iter().filter_map(|path| definition(&files, &modules, module, path, 0));
        found.filter(|to| to != module).collect()
    };
    files.iter().map(|(module, file)| (module.clone(), imported(module, file))).collect()
}

fn read(dir: &Path, module: &[String], files: &mut BTreeMap<Module, File>) {
    for entry in std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())).flatten() {
        let path = entry.path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name == "tests" {
            continue;
        }
        let mut own = module.to_vec();
        if path.is_dir() {
            own.push(name);
            read(&path, &own, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            if !["mod", "lib", "main"].contains(&name.as_str()) {
                own.push(name);
            }
            let text = std::fs::read_to_string(&path).expect("reads");
            let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let file = files.entry(own).or_default();
            parsed.items.iter().for_each(|item| item_of(item, file));
        }
    }
}

fn item_of(item: &syn::Item, file: &mut File) {
    if attributes(item).iter().any(is_test) {
        return;
    }
    let mut define = |name: &syn::Ident| _ = file.defines.insert(name.to_string());
    match item {
        syn::Item::Const(i) => define(&i.ident),
        syn::Item::Enum(i) => define(&i.ident),
        syn::Item::Fn(i) => define(&i.sig.ident),
        syn::Item::Static(i) => define(&i.ident),
        syn::Item::Struct(i) => define(&i.ident),
        syn::Item::Trait(i) => define(&i.ident),
        syn::Item::Type(i) => define(&i.ident),
        syn::Item::Union(i) => define(&i.ident),
        syn::Item::Macro(i) => {
            i.ident.iter().for_each(define);
            if !i.mac.path.is_ident("macro_rules") {
                named_in(i.mac.tokens.clone(), &mut file.defines);
            }
        }
        syn::Item::Use(i) => {
            let mut brought = Vec::new();
            flatten(&i.tree, &mut Vec::new(), &mut brought);
            if matches!(i.vis, syn::Visibility::Inherited) {
                file.paths.extend(brought.iter().map(|(_, path)| path.clone()));
            }
            file.uses.extend(brought);
            return;
        }
        _ => {}
    }
    if matches!(item, syn::Item::Macro(i) if i.mac.path.is_ident("macro_rules")) {
        return;
    }
    Paths(file).visit_item(item);
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// Returns whether an item is compiled for tests only.
fn is_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    attribute.path().is_ident("cfg")
        && list.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|w| w == "test")
}

/// Collects the names that the tokens of a macro may define: identifiers before braces or `=`.
fn named_in(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let mut last = None;
    for token in tokens {
        match token {
            TokenTree::Ident(name) => last = Some(name.to_string()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => names.extend(last.take()),
            TokenTree::Punct(sign) if sign.as_char() == '=' => names.extend(last.take()),
            _ => {}
        }
    }
}

fn flatten(tree: &syn::UseTree, prefix: &mut Vec<String>, out: &mut Vec<(String, Vec<String>)>) {
    let with = |name: &syn::Ident, prefix: &[String]| {
        let mut path = prefix.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        path
    };
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, out);
            prefix.pop();
        }
        syn::UseTree::Name(name) => {
            let path = with(&name.ident, prefix);
            out.push((path.last().cloned().unwrap_or_default(), path));
        }
        syn::UseTree::Rename(rename) => out.push((rename.rename.to_string(), with(&rename.ident, prefix))),
        syn::UseTree::Glob(_) => out.push(("*".to_owned(), prefix.clone())),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, out)),
    }
}

struct Paths<'a>(&'a mut File);

impl Visit<'_> for Paths<'_> {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            self.0.paths.push(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &syn::VisRestricted) {}

    fn visit_macro(&mut self, mac: &syn::Macro) {
        paths_in(mac.tokens.clone(), &mut self.0.paths);
    }
}

/// Collects the paths in the tokens of a macro.
fn paths_in(tokens: TokenStream, out: &mut Vec<Vec<String>>) {
    let (mut path, mut colons): (Vec<String>, usize) = (Vec::new(), 0);
    for token in tokens {
        match token {
            TokenTree::Ident(name) if colons == 2 => path.push(name.to_string()),
            TokenTree::Ident(name) => {
                out.extend(Some(std::mem::replace(&mut path, vec![name.to_string()])).filter(|p| p.len() > 1));
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' => {
                colons += 1;
                continue;
            }
            other => {
                out.extend(Some(std::mem::take(&mut path)).filter(|p| p.len() > 1));
                if let TokenTree::Group(group) = other {
                    paths_in(group.stream(), out);
                }
            }
        }
        colons = 0;
    }
    out.extend(Some(path).filter(|p| p.len() > 1));
}

/// Returns the file that defines the item at a path in a module; `None` if the path leads to another crate.
fn definition(
    files: &BTreeMap<Module, File>,
    modules: &BTreeSet<Module>,
    module: &Module,
    path: &[String],
    steps: usize,
) -> Option<Module> {
    let (mut at, mut rest) = match path.first()?.as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (module.clone(), &path[1..]),
        "super" => {
            let ups = path.iter().take_while(|p| *p == "super").count();
            (module.get(..module.len().checked_sub(ups)?)?.to_vec(), &path[ups..])
        }
        first => {
            let child = [module.as_slice(), &[first.to_owned()]].concat();
            if !modules.contains(&child) {
                return None;
            }
            (module.clone(), path)
        }
    };
    while let Some(child) = rest.first().map(|name| [at.as_slice(), std::slice::from_ref(name)].concat())
        && modules.contains(&child)
    {
        (at, rest) = (child, &rest[1..]);
    }
    let (file, Some(name)) = (files.get(&at)?, rest.first()) else { return Some(at) };
    if file.defines.contains(name) || steps > MAX_STEPS {
        return Some(at);
    }
    let through = file.uses.iter().filter(|(alias, _)| alias == name || alias == "*").find_map(|(alias, path)| {
        let path = if alias == "*" { [path.as_slice(), std::slice::from_ref(name)].concat() } else { path.clone() };
        let full = [path.as_slice(), &rest[1..]].concat();
        definition(files, modules, &at, &full, steps + 1).filter(|found| *found != at)
    });
    through.or(Some(at))
}

/// Returns the import cycles: groups of files that import each other, directly or through others of the group.
pub fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<String>> {
    let reachable = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(imports.get(&next).into_iter().flatten().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    };
    let from: BTreeMap<&Module, BTreeSet<Module>> = imports.keys().map(|m| (m, reachable(m))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (module, to) in &from {
        let circle: Vec<String> = to
            .iter()
            .filter(|t| from.get(t).is_some_and(|back| back.contains(*module)))
            .map(|m| m.join("::"))
            .collect();
        if !circle.is_empty() && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}
