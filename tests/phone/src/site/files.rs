//! The files of the practice site, which the program contains.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Contents of the files by their names, in the order of the names.
        const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../../site/", $name)))),*];
    };
}

files![
    "data.js",
    "download/my-data.json",
    "download/prices.txt",
    "download/report.csv",
    "pages/about.html",
    "pages/account.html",
    "pages/account/order.html",
    "pages/account/orders.html",
    "pages/account/profile.html",
    "pages/account/settings.html",
    "pages/account/settings/addresses.html",
    "pages/account/settings/language.html",
    "pages/account/settings/notifications.html",
    "pages/account/settings/privacy.html",
    "pages/account/subscription.html",
    "pages/app.html",
    "pages/busy.html",
    "pages/cart.html",
    "pages/checkout.html",
    "pages/contact.html",
    "pages/de.html",
    "pages/de/versand.html",
    "pages/de/zeiten.html",
    "pages/dialogs.html",
    "pages/downloads.html",
    "pages/feed.html",
    "pages/frame.html",
    "pages/frames.html",
    "pages/help.html",
    "pages/help/account.html",
    "pages/help/brewing.html",
    "pages/help/delivery.html",
    "pages/help/gifts.html",
    "pages/help/returns.html",
    "pages/help/storage.html",
    "pages/index.html",
    "pages/legal.html",
    "pages/login.html",
    "pages/menus.html",
    "pages/practice.html",
    "pages/product.html",
    "pages/reader.html",
    "pages/reset.html",
    "pages/reviews.html",
    "pages/rows.html",
    "pages/shadow.html",
    "pages/shop.html",
    "pages/sort.html",
    "pages/stores.html",
    "pages/tabs.html",
    "pages/upload.html",
    "pages/uploaded.html",
    "pages/wishlist.html",
    "redesign/account.html",
    "redesign/account/settings.html",
    "redesign/cart.html",
    "redesign/index.html",
    "redesign/product.html",
    "redesign/shop.html",
    "site.js",
    "style.css",
];

/// Returns the content of a file, given its path below `site`.
pub fn file(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, content)| *content)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn names_below(dir: &Path, before: &str) -> Vec<String> {
        let entries = std::fs::read_dir(dir).expect("a directory").filter_map(Result::ok);
        let names = entries.flat_map(|entry| {
            let name = format!("{before}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { names_below(&entry.path(), &format!("{name}/")) } else { vec![name] }
        });
        names.collect()
    }

    #[test]
    fn every_file_is_served() {
        let mut names = names_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("site"), "");
        names.sort();
        assert_eq!(names, super::FILES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
    }
}
