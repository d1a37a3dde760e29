//! An example for each command, shown at the end of its help. A test parses all of them.

/// The path of each command, with an example command line.
const EXAMPLES: &[(&str, &str)] = &[
    ("health", "afctl health"),
    ("status", "afctl status --watch"),
    ("observe", "afctl observe page"),
    ("observe top", "afctl observe top"),
    ("observe screen", "afctl observe screen --field text --field bounds"),
    ("observe refs", "afctl observe refs --max-rows 20"),
    ("observe page", "afctl observe page --since last"),
    ("observe text", "afctl observe text --in main --max-chars 4000"),
    ("observe last", "afctl observe last"),
    ("observe screenshot", "afctl observe screenshot page.png --annotate"),
    ("observe overlay", "afctl observe overlay get"),
    ("observe overlay get", "afctl observe overlay get"),
    ("observe overlay set", "afctl observe overlay set --enable"),
    ("observe wait", "afctl observe wait Connected --timeout-ms 20000"),
    ("act", "afctl act tap \"Wi-Fi\""),
    ("act tap", "afctl act tap @n3 --then diff"),
    ("act long-press", "afctl act long-press \"Photo 7\""),
    ("act double-tap", "afctl act double-tap --xy 540,1200"),
    ("act hover", "afctl act hover \"Products\""),
    ("act swipe", "afctl act swipe --from 900,1200 --to 100,1200"),
    ("act drag", "afctl act drag \"Milk\" --to \"Done\""),
    ("act scroll", "afctl act scroll down"),
    ("act scroll-to", "afctl act scroll-to \"About phone\""),
    ("act undo", "afctl act undo --dry-run"),
    ("act go-to", "afctl act go-to \"Dark theme\""),
    ("act upload", "afctl act upload \"Attach a file\" report.pdf"),
    ("observe dump", "afctl observe dump window_dump.xml"),
    ("act tab", "afctl act tab t2"),
    ("act page-tool", "afctl act page-tool add_to_basket '{\"name\": \"Ginger Storm\"}'"),
    ("act back", "afctl act back"),
    ("act home", "afctl act home"),
    ("act key", "afctl act key enter"),
    ("act text", "afctl act text \"hello\""),
    ("act fill", "afctl act fill \"User name\" alice"),
    ("act launch", "afctl act launch com.android.settings"),
    ("app", "afctl app list"),
    ("app list", "afctl app list shop"),
    ("app install", "afctl app install shop.apk --grant"),
    ("app uninstall", "afctl app uninstall org.example.shop"),
    ("app clear", "afctl app clear org.example.shop"),
    ("app grant", "afctl app grant org.example.shop CAMERA"),
    ("app launch", "afctl app launch Settings"),
    ("app stop", "afctl app stop com.android.settings"),
    ("device log", "afctl device log --app org.example.shop --level warning"),
    ("device record", "afctl device record start"),
    ("device record start", "afctl device record start --max-ms 60000"),
    ("device record stop", "afctl device record stop test.mp4"),
    ("device set", "afctl device set --orientation landscape --dark-mode true"),
    ("act stop", "afctl act stop com.android.settings"),
    ("act shell", "afctl act shell --command \"getprop ro.product.model\""),
    ("act intent", "afctl act intent --action android.intent.action.VIEW --data https://example.org/"),
    ("look", "afctl look --since last"),
    ("read", "afctl read --in main"),
    ("screenshot", "afctl screenshot page.png"),
    ("wait", "afctl wait \"Connected\""),
    ("tap", "afctl tap \"Wi-Fi\""),
    ("long-press", "afctl long-press @n3"),
    ("type", "afctl type \"hello\""),
    ("fill", "afctl fill \"User name\" alice"),
    ("press", "afctl press enter"),
    ("scroll", "afctl scroll down"),
    ("go", "afctl go \"dark mode\" --explore 5"),
    ("scroll-to", "afctl scroll-to \"About phone\""),
    ("launch", "afctl launch com.android.settings"),
    ("back", "afctl back"),
    ("home", "afctl home"),
    ("undo", "afctl undo --dry-run"),
    ("tab", "afctl tab t2"),
    ("check", "afctl check \"Dark theme\" --on"),
    ("verify", "afctl verify text-contains \"Connected\""),
    ("verify text-contains", "afctl verify text-contains \"Connected\""),
    ("verify element", "afctl verify element \"Dark theme\" --on"),
    ("verify top-activity", "afctl verify top-activity --expected Settings"),
    ("verify node-exists", "afctl verify node-exists --by resId --value switch_widget"),
    ("recover", "afctl recover relaunch --package com.android.settings"),
    ("recover auto", "afctl recover auto"),
    ("recover back", "afctl recover back --times 2"),
    ("recover home", "afctl recover home"),
    ("recover relaunch", "afctl recover relaunch --package com.android.settings"),
    ("memory", "afctl memory search --query wifi"),
    ("memory save", "afctl memory save --app com.android.settings --topic nav/wifi --content \"Settings, then Wi-Fi\""),
    ("memory search", "afctl memory search --query wifi"),
    ("memory delete", "afctl memory delete --id 7"),
    ("memory experience", "afctl memory experience"),
    ("memory predict", "afctl memory predict"),
    ("memory context", "afctl memory context"),
    ("memory log", "afctl memory log --limit 50"),
    ("memory stats", "afctl memory stats"),
    ("memory export", "afctl memory export memory.jsonl"),
    ("memory import", "afctl memory import memory.jsonl --dry-run"),
    ("import memory", "afctl import memory memory.jsonl --dry-run"),
    ("export", "afctl export memory.jsonl"),
    ("memory prune", "afctl memory prune --older 90d --dry-run"),
    ("memory vacuum", "afctl memory vacuum"),
    ("visual", "afctl visual path --to \"Wi-Fi\""),
    ("visual learn", "afctl visual learn --page settings-home"),
    ("visual match", "afctl visual match"),
    ("visual components", "afctl visual components --app com.android.settings"),
    ("visual states", "afctl visual states --app com.android.settings"),
    ("visual transitions", "afctl visual transitions --app com.android.settings"),
    ("visual path", "afctl visual path --to \"Wi-Fi\""),
    ("visual graph", "afctl visual graph --app com.android.settings --save-file graph.svg"),
    ("visual rename", "afctl visual rename --old unlabeled_40_60 --new menu"),
    ("visual delete", "afctl visual delete --app com.android.settings --component avatar"),
    ("visual cleanup", "afctl visual cleanup --app com.android.settings --dry-run"),
    ("visual history", "afctl visual history --limit 10"),
    ("visual undo", "afctl visual undo --app com.android.settings"),
    ("visual import", "afctl visual import ./apps"),
    ("visual export", "afctl visual export ./apps"),
    ("session", "afctl session start --goal \"test the checkout\" -s checkout-1"),
    ("session start", "afctl session start --goal \"test the checkout\" -s checkout-1"),
    ("session list", "afctl session list"),
    ("session show", "afctl session show -s checkout-1"),
    ("session end", "afctl session end -s checkout-1"),
    ("session progress", "afctl session progress -s checkout-1"),
    ("session resume", "afctl session resume -s checkout-1"),
    ("session report", "afctl session report -s checkout-1"),
    ("session update", "afctl session update --goal \"test the coupons\" -s checkout-1"),
    ("session delete", "afctl session delete -s checkout-1"),
    ("session import", "afctl session import checkout-1.jsonl"),
    ("session export", "afctl session export -s checkout-1"),
    ("session coverage", "afctl session coverage -s checkout-1"),
    ("session tested", "afctl session tested \"Pay\" --new -s checkout-1"),
    ("session task", "afctl session task add \"pay with a coupon\" -s checkout-1"),
    ("session task add", "afctl session task add \"pay with a coupon\" -s checkout-1"),
    ("session task start", "afctl session task start -s checkout-1"),
    ("session task update", "afctl session task update --progress \"the form is filled in\" -s checkout-1"),
    ("session task finish", "afctl session task finish --status passed -s checkout-1"),
    ("session task list", "afctl session task list -s checkout-1"),
    ("session bug", "afctl session bug list"),
    (
        "session bug add",
        "afctl session bug add \"The total is wrong\" --severity high --step \"open the cart\" -s checkout-1",
    ),
    ("session bug list", "afctl session bug list"),
    ("session bug show", "afctl session bug show --id 3"),
    ("session bug update", "afctl session bug update --id 3 --severity low"),
    ("session bug reopen", "afctl session bug reopen --id 3"),
    ("session bug resolve", "afctl session bug resolve --id 3 --reason \"fixed in 2.4\""),
    ("session result", "afctl session result list"),
    ("session result add", "afctl session result add coupon --status failed -s checkout-1"),
    ("session result list", "afctl session result list"),
    ("conversation", "afctl conversation context -s checkout-1"),
    ("conversation append", "afctl conversation append --role user --text \"Test the checkout\" -s checkout-1"),
    ("conversation list", "afctl conversation list -s checkout-1"),
    ("conversation search", "afctl conversation search delivery address -s checkout-1"),
    ("conversation delete", "afctl conversation delete 12 -s checkout-1"),
    ("conversation usage", "afctl conversation usage -s checkout-1"),
    ("conversation context", "afctl conversation context --budget 4000 -s checkout-1"),
    ("conversation compact", "afctl conversation compact -s checkout-1"),
    ("conversation summary", "afctl conversation summary -s checkout-1"),
    ("conversation working", "afctl conversation working -s checkout-1"),
    ("conversation clear", "afctl conversation clear -s checkout-1"),
    ("pattern", "afctl pattern find"),
    (
        "pattern save",
        "afctl pattern save \"the e-mail field refuses addresses without a dot\" --kind validation-rule --page https://shop.example/profile",
    ),
    ("pattern find", "afctl pattern find --page https://shop.example/profile"),
    ("pattern list", "afctl pattern list --scope session"),
    ("pattern promote", "afctl pattern promote --id 4 --scope app"),
    ("pattern merge", "afctl pattern merge --id 7 --into 4"),
    ("pattern used", "afctl pattern used --id 4"),
    ("pattern delete", "afctl pattern delete --id 4"),
    ("page-model", "afctl page-model find --page https://shop.example/cart"),
    ("page-model save", "afctl page-model save --page https://shop.example/cart --type list --elements elements.json"),
    ("page-model find", "afctl page-model find --page https://shop.example/cart"),
    ("page-model delete", "afctl page-model delete --id 2"),
    ("recall", "afctl recall search \"payment is refused\""),
    ("recall search", "afctl recall search \"payment is refused\" --type bug --app com.example.shop --explain"),
    (
        "recall store",
        "afctl recall store \"the coupon SPRING10 works once per account\" --app com.example.shop --tag coupon",
    ),
    ("recall get", "afctl recall get 0192f3c2-7b1a-7c3d-8e4f-0123456789ab"),
    ("recall used", "afctl recall used 0192f3c2-7b1a-7c3d-8e4f-0123456789ab --held true"),
    ("recall delete", "afctl recall delete 0192f3c2-7b1a-7c3d-8e4f-0123456789ab"),
    ("recall context", "afctl recall context \"test the checkout with a coupon\" --budget 1000"),
    ("recall status", "afctl recall status"),
    ("recall upkeep", "afctl recall upkeep --dry-run"),
    ("recall evaluate", "afctl recall evaluate tests/recall/tuned"),
    ("model", "afctl model list"),
    ("model add", "afctl model add ~/models/all-MiniLM-L6-v2"),
    ("model list", "afctl model list"),
    ("model remove", "afctl model remove"),
    ("connect", "afctl connect usb"),
    ("connect adb", "afctl connect adb --serial emulator-5554"),
    ("connect usb", "afctl connect usb --name pixel"),
    ("device", "afctl device list"),
    ("device add", "afctl device add pixel --url http://192.168.1.20:8081 --ask-token"),
    ("device list", "afctl device list"),
    ("device remove", "afctl device remove pixel"),
    ("device lease", "afctl device lease --ttl-ms 60000 -s checkout-1"),
    ("device release", "afctl device release -s checkout-1"),
    ("device downloads", "afctl device downloads --wait-ms 30000"),
    ("device tabs", "afctl device tabs"),
    ("device packages", "afctl device packages --filter google"),
    ("artifact", "afctl artifact list"),
    ("artifact list", "afctl artifact list"),
    ("artifact get", "afctl artifact get --id 12"),
    ("artifact delete", "afctl artifact delete --id 12"),
    ("config", "afctl config list"),
    ("config list", "afctl config list"),
    ("config get", "afctl config get output.default"),
    ("config set", "afctl config set output.default human"),
    ("config unset", "afctl config unset output.default"),
    ("import", "afctl import af --dry-run"),
    ("import af", "afctl import af --dry-run"),
    ("backup", "afctl backup create"),
    ("backup create", "afctl backup create"),
    ("backup list", "afctl backup list"),
    ("backup verify", "afctl backup verify"),
    ("backup restore", "afctl backup restore 20261123T031500Z"),
    ("backup delete", "afctl backup delete 20261123T031500Z"),
    ("job", "afctl job list"),
    ("job list", "afctl job list"),
    ("job run", "afctl job run artifact-limits"),
    ("daemon", "afctl daemon status"),
    ("daemon start", "afctl daemon start"),
    ("daemon status", "afctl daemon status"),
    ("daemon version", "afctl daemon version"),
    ("daemon methods", "afctl daemon methods"),
    ("daemon metrics", "afctl daemon metrics"),
    ("daemon restart", "afctl daemon restart"),
    ("daemon reload", "afctl daemon reload"),
    ("daemon shutdown", "afctl daemon shutdown"),
    ("service", "afctl service install"),
    ("service install", "afctl service install"),
    ("service uninstall", "afctl service uninstall"),
    ("service status", "afctl service status"),
    ("service logs", "afctl service logs --follow"),
    ("doctor", "afctl doctor"),
    ("uninstall", "afctl uninstall"),
    ("init", "afctl init practice"),
    ("mcp", "afctl mcp --toolsets testing"),
    ("setup", "afctl setup claude-code"),
    ("events", "afctl events --since 0 --count 10"),
    ("rpc", "afctl rpc observe.page '{\"format\":\"outline\"}'"),
    ("demo", "afctl demo"),
    ("completions", "afctl completions bash"),
    ("man", "afctl man ./man"),
];

/// Returns the example for a command.
pub fn of(path: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == path).map(|(_, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    /// Splits a line into words as a shell does, as far as the examples need it.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quote, mut word) = (Vec::new(), None, String::new());
        for c in line.chars() {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, ' ') => words.push(std::mem::take(&mut word)),
                (_, c) => word.push(c),
            }
        }
        words.push(word);
        words
    }

    fn paths(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name()).trim().to_owned();
            paths(sub, &path, all);
            all.push(path);
        }
    }

    #[test]
    fn each_command_has_an_example_that_can_be_parsed() {
        let mut command = cli::command();
        command.build();
        let mut all = Vec::new();
        paths(&command, "", &mut all);
        let mut wrong = Vec::new();
        for path in &all {
            let example = of(path).unwrap_or_else(|| panic!("{path} has no example"));
            let group = path.split(' ').next().unwrap_or_default();
            assert!(example.starts_with(&format!("afctl {group}")), "{path}: {example}");
            if let Err(error) = cli::command().try_get_matches_from(words(example)) {
                wrong.push(format!("{example}: {error}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        for (path, _) in EXAMPLES {
            assert!(all.iter().any(|known| known == path), "there is no command {path}");
        }
    }

    /// Returns the commands of a parsed line with the values of their options.
    fn meaning(matches: &clap::ArgMatches) -> Vec<String> {
        let value = |id: &clap::Id| {
            // A group of options has no values.
            let values = matches.try_get_raw(id.as_str()).ok().flatten().map(|values| values.collect::<Vec<_>>());
            format!("{id} {values:?} {:?}", matches.value_source(id.as_str()))
        };
        let mut meaning: Vec<String> = matches.ids().map(value).collect();
        if let Some((name, inner)) = matches.subcommand() {
            meaning.push(name.to_owned());
            meaning.extend(self::meaning(inner));
        }
        meaning
    }

    #[test]
    fn command_line_means_the_same_to_the_named_commands_alone() {
        // Names of commands as values, and other names for a command.
        let traps =
            ["afctl --session tap look", "afctl tap look --session back", "afctl snapshot", "afctl -o json click 7"];
        for line in EXAMPLES.iter().map(|(_, line)| *line).chain(traps) {
            let words = words(line);
            let alone = cli::command_for(&words).try_get_matches_from(&words).unwrap_or_else(|e| panic!("{line}: {e}"));
            let whole = cli::command().try_get_matches_from(&words).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(meaning(&alone), meaning(&whole), "{line}");
        }
    }
}
