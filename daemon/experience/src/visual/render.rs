//! Draws the state graph in Graphviz or Mermaid format, or as SVG.
//!
//! States are grouped into clusters by activity. Several edges between two states become one line, labelled with the
//! most used action and the number of others. Interrupts have a cluster of their own, and show the action that
//! dismisses them.

use afd_proto::visual::StateKind;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write;

use super::graph::{Edge, Graph};
use super::states::State;

/// Maximum length of an edge label, in characters.
const MAX_LABEL: usize = 34;
/// Maximum number of lines with labels. With more lines, labels would overlap and are shown on hover only.
const MAX_LABELLED: usize = 80;

/// A state in the drawing.
struct Node<'a> {
    id: String,
    state: &'a State,
    interrupt: bool,
    cluster: usize,
}

/// A line between two states.
struct Line<'a> {
    from: usize,
    to: usize,
    edges: Vec<&'a Edge>,
}

impl Line<'_> {
    fn count(&self) -> i64 {
        self.edges.iter().map(|e| e.count).sum()
    }

    fn label(&self) -> String {
        let best = self.edges.iter().max_by_key(|e| e.count);
        let Some(best) = best else { return String::new() };
        let others = if self.edges.len() > 1 { format!(" +{}", self.edges.len() - 1) } else { String::new() };
        format!(
            "{}{others} \u{b7} {}\u{d7} {:.0}%",
            shortened(&best.action, MAX_LABEL),
            self.count(),
            best.success_rate * 100.0
        )
    }

    /// Returns the full descriptions of the edges that the line combines, one per row.
    fn tooltip(&self) -> String {
        let one = |e: &&Edge| format!("{} ({} of {}, {:.0}%)", e.action, e.count, e.attempts, e.success_rate * 100.0);
        self.edges.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        format!("{}\u{2026}", text.chars().take(most - 1).collect::<String>())
    }
}

fn visits(state: &State) -> String {
    format!("{} {}", state.visit_count, if state.visit_count == 1 { "visit" } else { "visits" })
}

/// A graph, arranged in clusters.
pub struct Picture<'a> {
    clusters: Vec<String>,
    nodes: Vec<Node<'a>>,
    lines: Vec<Line<'a>>,
    dismissals: HashMap<i64, String>,
}

impl<'a> Picture<'a> {
    /// Arranges the defined states of a graph, in the order in which they are reached.
    pub fn of(graph: &'a Graph) -> Self {
        let mut clusters: Vec<String> = Vec::new();
        let mut nodes: Vec<Node<'a>> = Vec::new();
        for state in in_order(graph) {
            let name = cluster_of(state, graph.is_interrupt(state.id));
            let cluster = clusters.iter().position(|c| *c == name).unwrap_or_else(|| {
                clusters.push(name);
                clusters.len() - 1
            });
            let id = state.code.clone().unwrap_or_default();
            // Codes are unique only within a scope.
            let id = if nodes.iter().any(|n| n.id == id) { format!("{id}_{}", state.id) } else { id };
            nodes.push(Node { id, state, interrupt: graph.is_interrupt(state.id), cluster });
        }
        let at: HashMap<i64, usize> = nodes.iter().enumerate().map(|(i, n)| (n.state.id, i)).collect();
        let mut lines: BTreeMap<(usize, usize), Vec<&Edge>> = BTreeMap::new();
        for edge in graph.known_edges() {
            if let (Some(from), Some(to)) = (at.get(&edge.from), at.get(&edge.to)) {
                lines.entry((*from, *to)).or_default().push(edge);
            }
        }
        let dismissals =
            graph.interrupts.iter().filter_map(|i| Some((i.state, i.dismissals.first()?.action.clone()))).collect();
        Self {
            clusters,
            nodes,
            lines: lines.into_iter().map(|((from, to), edges)| Line { from, to, edges }).collect(),
            dismissals,
        }
    }

    /// Returns the number of states shown.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of edges shown.
    pub fn edges(&self) -> usize {
        self.lines.iter().map(|l| l.edges.len()).sum()
    }

    /// Returns the second line of a node: its visits or, for a pop-up, the action that dismisses it.
    fn note(&self, node: &Node<'_>) -> String {
        match (node.interrupt, self.dismissals.get(&node.state.id)) {
            (true, Some(way)) => format!("pop-up \u{b7} {way}"),
            (true, None) => "pop-up".to_owned(),
            (false, _) => visits(node.state),
        }
    }

    fn in_cluster(&self, cluster: usize) -> impl Iterator<Item = (usize, &Node<'a>)> {
        self.nodes.iter().enumerate().filter(move |(_, n)| n.cluster == cluster)
    }

    /// Returns the drawing in Graphviz DOT format.
    pub fn dot(&self) -> String {
        let quoted =
            |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
        let mut out = String::from("digraph states {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
        for (c, name) in self.clusters.iter().enumerate() {
            let _ = writeln!(out, "  subgraph cluster_{c} {{\n    label={};", quoted(name));
            for (_, node) in self.in_cluster(c) {
                let label = quoted(&format!("{}\n{}", node.state.called(), self.note(node)));
                let style = if node.interrupt { ", style=\"rounded,dashed\"" } else { "" };
                let _ = writeln!(out, "    {} [label={label}{style}];", quoted(&node.id));
            }
            out.push_str("  }\n");
        }
        for line in &self.lines {
            let (from, to) = (&self.nodes[line.from].id, &self.nodes[line.to].id);
            let _ = writeln!(out, "  {} -> {} [label={}];", quoted(from), quoted(to), quoted(&line.label()));
        }
        out.push_str("}\n");
        out
    }

    /// Returns the drawing in Mermaid format.
    pub fn mermaid(&self) -> String {
        let escaped = |text: &str| {
            let special = |c: char| {
                if matches!(c, '"' | '#' | '&' | '<' | '>' | '`') { format!("#{};", c as u32) } else { c.to_string() }
            };
            text.chars().map(|c| if c == '\n' { "<br/>".to_owned() } else { special(c) }).collect::<String>()
        };
        let mut out = String::from("flowchart LR\n");
        for (c, name) in self.clusters.iter().enumerate() {
            let _ = writeln!(out, "  subgraph c{c}[\"{}\"]", escaped(name));
            for (n, node) in self.in_cluster(c) {
                let label = escaped(&format!("{} {}\n{}", node.state.called(), node.id, self.note(node)));
                let (open, close) = if node.interrupt { ("([", "])") } else { ("[", "]") };
                let _ = writeln!(out, "    n{n}{open}\"{label}\"{close}");
            }
            out.push_str("  end\n");
        }
        for line in &self.lines {
            let (from, to) = (line.from, line.to);
            let _ = writeln!(out, "  n{from} -->|\"{}\"| n{to}", escaped(&line.label()));
        }
        out
    }
}

/// Returns the name of a state's cluster: its activity, or the kind of state.
fn cluster_of(state: &State, interrupt: bool) -> String {
    match (interrupt, state.kind) {
        (true, _) => "pop-ups".to_owned(),
        (false, StateKind::Dialog) => "dialogs".to_owned(),
        (false, StateKind::Page) => {
            state.place.rsplit('/').next().unwrap_or_default().trim_start_matches('.').to_owned()
        }
        (false, _) => "seen by detectors".to_owned(),
    }
}

/// Returns the defined states in the order in which they are reached from the most visited one; interrupts last.
fn in_order(graph: &Graph) -> Vec<&State> {
    let mut left: Vec<&State> = graph.places().collect();
    left.sort_by_key(|s| std::cmp::Reverse(s.visit_count));
    let mut out: Vec<&State> = Vec::new();
    while !left.is_empty() {
        let mut queue = VecDeque::from([left.remove(0)]);
        while let Some(state) = queue.pop_front() {
            for edge in graph.known_edges().filter(|e| e.from == state.id) {
                if let Some(i) = left.iter().position(|s| s.id == edge.to) {
                    queue.push_back(left.remove(i));
                }
            }
            out.push(state);
        }
    }
    out.extend(graph.states.values().filter(|s| s.code.is_some() && graph.is_interrupt(s.id)));
    out
}

const NODE_WIDTH: f64 = 200.0;
const NODE_HEIGHT: f64 = 46.0;
const GAP_WIDTH: f64 = 120.0;
const GAP_HEIGHT: f64 = 34.0;
const MARGIN: f64 = 40.0;
const HEAD: f64 = 30.0;

/// Positions of boxes and nodes, and the size of the drawing.
struct Layout {
    boxes: Vec<(f64, f64, f64, f64)>,
    nodes: Vec<(f64, f64)>,
    size: (f64, f64),
}

impl Picture<'_> {
    /// Places clusters side by side, in rows that together have about the shape of a screen. Places the states of a
    /// cluster in columns.
    fn layout(&self) -> Layout {
        let per_column = ((self.nodes.len() as f64).sqrt().ceil() as usize).clamp(3, 12);
        let widest = ((self.nodes.len() as f64).sqrt() * 1.3).ceil().max(3.0) * (NODE_WIDTH + GAP_WIDTH);
        let mut layout = Layout { boxes: Vec::new(), nodes: vec![(0.0, 0.0); self.nodes.len()], size: (0.0, 0.0) };
        let (mut x, mut y, mut line) = (MARGIN, MARGIN, 0.0f64);
        for cluster in 0..self.clusters.len() {
            let members: Vec<usize> = self.in_cluster(cluster).map(|(i, _)| i).collect();
            let (columns, rows) = (members.len().div_ceil(per_column), members.len().min(per_column));
            let width = columns as f64 * (NODE_WIDTH + GAP_WIDTH) - GAP_WIDTH + 2.0 * 24.0;
            let height = rows as f64 * (NODE_HEIGHT + GAP_HEIGHT) - GAP_HEIGHT + HEAD + 2.0 * 20.0;
            if x > MARGIN && x + width > widest {
                (x, y, line) = (MARGIN, y + line + GAP_HEIGHT * 2.0, 0.0);
            }
            for (i, node) in members.into_iter().enumerate() {
                let (column, row) = (i / per_column, i % per_column);
                layout.nodes[node] = (
                    x + 24.0 + column as f64 * (NODE_WIDTH + GAP_WIDTH),
                    y + HEAD + 20.0 + row as f64 * (NODE_HEIGHT + GAP_HEIGHT),
                );
            }
            layout.boxes.push((x, y, width, height));
            layout.size = (layout.size.0.max(x + width + MARGIN), layout.size.1.max(y + height + MARGIN));
            x += width + GAP_WIDTH;
            line = line.max(height);
        }
        layout
    }

    /// Returns the drawing as an SVG document.
    pub fn svg(&self) -> String {
        let layout = self.layout();
        let (width, height) = (layout.size.0.max(200.0), layout.size.1.max(80.0));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\" fill=\"#667\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for (name, (x, y, w, h)) in self.clusters.iter().zip(&layout.boxes) {
            let _ = writeln!(
                out,
                "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{w:.0}\" height=\"{h:.0}\" rx=\"10\" fill=\"#f4f6fa\" stroke=\"#cdd5e3\"/>\
                 <text x=\"{:.0}\" y=\"{:.0}\" fill=\"#556\" font-weight=\"bold\">{}</text>",
                x + 24.0,
                y + 22.0,
                xml(name)
            );
        }
        let labelled = self.lines.len() <= MAX_LABELLED;
        self.lines.iter().for_each(|line| draw_line(&mut out, line, &layout, labelled));
        for (node, (x, y)) in self.nodes.iter().zip(&layout.nodes) {
            self.draw_node(&mut out, node, *x, *y);
        }
        out.push_str("</svg>\n");
        out
    }

    fn draw_node(&self, out: &mut String, node: &Node<'_>, x: f64, y: f64) {
        let dashes = if node.interrupt { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<g><title>{} {}</title><rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\" fill=\"#fff\" \
             stroke=\"#3b6fb6\"{dashes}/><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#667\">{}</text></g>",
            xml(&node.id),
            xml(node.state.called()),
            NODE_WIDTH,
            NODE_HEIGHT,
            x + NODE_WIDTH / 2.0,
            y + 20.0,
            xml(&shortened(node.state.called(), 26)),
            x + NODE_WIDTH / 2.0,
            y + 37.0,
            xml(&shortened(&self.note(node), 34)),
        );
    }
}

fn draw_line(out: &mut String, line: &Line<'_>, layout: &Layout, labelled: bool) {
    let (path, mx, my) = path_of(line, layout);
    let thick = 1.0 + (line.count() as f64).ln_1p() * 0.5;
    let _ = writeln!(
        out,
        "<g><title>{}</title><path d=\"{path}\" fill=\"none\" stroke=\"#889\" stroke-opacity=\"0.7\" stroke-width=\"{thick:.1}\" marker-end=\"url(#arrow)\"/>",
        xml(&line.tooltip())
    );
    if labelled {
        let _ = writeln!(
            out,
            "<text x=\"{mx:.0}\" y=\"{my:.0}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#445\" stroke=\"#fff\" stroke-width=\"3\" \
             paint-order=\"stroke\">{}</text>",
            xml(&line.label())
        );
    }
    out.push_str("</g>\n");
}

/// Returns the path of a line, and the position of its label.
fn path_of(line: &Line<'_>, layout: &Layout) -> (String, f64, f64) {
    let ((ax, ay), (bx, by)) = (layout.nodes[line.from], layout.nodes[line.to]);
    let (aw, bw) = (ax + NODE_WIDTH, bx + NODE_WIDTH);
    let (ac, bc) = (ay + NODE_HEIGHT / 2.0, by + NODE_HEIGHT / 2.0);
    // Lines go from the right side to the left side of a node, or back. Within a column they go around the right side
    // downwards and around the left side upwards. Loops are drawn over the corner.
    if line.from == line.to {
        (
            format!(
                "M{:.0},{ay:.0} C{:.0},{:.0} {:.0},{:.0} {aw:.0},{:.0}",
                aw - 40.0,
                aw - 30.0,
                ay - 34.0,
                aw + 40.0,
                ay - 10.0,
                ac - 8.0
            ),
            aw - 10.0,
            ay - 14.0,
        )
    } else if bx >= aw {
        let bend = ((bx - aw) / 2.0).max(40.0);
        let (ac, bc) = (ac - 6.0, bc - 6.0);
        (
            format!("M{aw:.0},{ac:.0} C{:.0},{ac:.0} {:.0},{bc:.0} {bx:.0},{bc:.0}", aw + bend, bx - bend),
            (aw + bx) / 2.0,
            (ac + bc) / 2.0 - 4.0,
        )
    } else if ax >= bw {
        let bend = ((ax - bw) / 2.0).max(40.0);
        let (ac, bc) = (ac + 8.0, bc + 8.0);
        (
            format!("M{ax:.0},{ac:.0} C{:.0},{ac:.0} {:.0},{bc:.0} {bw:.0},{bc:.0}", ax - bend, bw + bend),
            (ax + bw) / 2.0,
            (ac + bc) / 2.0 + 12.0,
        )
    } else if by > ay {
        (
            format!("M{aw:.0},{ac:.0} C{:.0},{ac:.0} {:.0},{bc:.0} {bw:.0},{bc:.0}", aw + 46.0, bw + 46.0),
            aw.max(bw) + 38.0,
            (ac + bc) / 2.0,
        )
    } else {
        (
            format!("M{ax:.0},{ac:.0} C{:.0},{ac:.0} {:.0},{bc:.0} {bx:.0},{bc:.0}", ax - 46.0, bx - 46.0),
            ax.min(bx) - 38.0,
            (ac + bc) / 2.0,
        )
    }
}

/// Escapes text for XML.
fn xml(text: &str) -> String {
    let plain = |c: &char| !c.is_control() || *c == '\n';
    text.chars()
        .filter(plain)
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
