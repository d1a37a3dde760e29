//! The table of all methods.

use crate::method::MethodInfo;
use crate::{
    act, artifact, backup, config, context, conversation, coverage, daemon, device, doctor, events, files, findings,
    go, graph, history, job, manage, memory, model, observe, pattern, picture, predict, progress, recall,
    recall_upkeep, recover, rpc, session, tasks, template_match, transfer, undo, upkeep, verify, visual,
};

/// Returns every method, in the order in which the documentation lists the namespaces.
pub fn methods() -> impl Iterator<Item = &'static MethodInfo> {
    [
        daemon::METHODS,
        doctor::METHODS,
        device::METHODS,
        config::METHODS,
        observe::METHODS,
        picture::METHODS,
        act::METHODS,
        go::METHODS,
        undo::METHODS,
        manage::METHODS,
        verify::METHODS,
        recover::METHODS,
        memory::METHODS,
        predict::METHODS,
        upkeep::METHODS,
        artifact::METHODS,
        visual::METHODS,
        history::METHODS,
        graph::METHODS,
        files::METHODS,
        template_match::METHODS,
        session::METHODS,
        transfer::METHODS,
        coverage::METHODS,
        progress::METHODS,
        tasks::METHODS,
        findings::METHODS,
        conversation::METHODS,
        context::METHODS,
        pattern::METHODS,
        recall::METHODS,
        recall_upkeep::METHODS,
        model::METHODS,
        job::METHODS,
        backup::METHODS,
        events::METHODS,
        rpc::METHODS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the method with this wire name, or `None` if there is no such method.
pub fn method(name: &str) -> Option<&'static MethodInfo> {
    methods().find(|m| m.name == name)
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;
    use crate::method::DeviceUse;

    /// Returns the names of a method's parameters.
    fn parameters(info: &MethodInfo) -> Vec<String> {
        let mut generator = schemars::SchemaGenerator::default();
        let schema = (info.params_schema)(&mut generator);
        let name = schema.get("$ref").and_then(|r| r.as_str()?.rsplit('/').next());
        let definition = name.and_then(|name| generator.definitions().get(name)).unwrap_or(schema.as_value());
        definition.get("properties").and_then(|p| p.as_object()).into_iter().flat_map(|p| p.keys().cloned()).collect()
    }

    #[test]
    fn types_lose_nothing_of_the_examples() {
        for info in methods() {
            let example = crate::example_result(info.name).unwrap_or_else(|| panic!("{} has no example", info.name));
            let decoded = (info.decoded)(example).unwrap_or_else(|error| panic!("{}: {error}", info.name));
            assert_eq!(&decoded, example, "{}", info.name);
        }
    }

    #[test]
    fn rows_name_the_shared_parameters_that_their_types_have() {
        // A `session` or `device` that filters a list or names a new device is a parameter of the method itself.
        let filters = [
            "session.list",
            "session.bug.list",
            "session.bug.show",
            "session.bug.update",
            "session.bug.reopen",
            "session.bug.resolve",
            "session.result.list",
            "memory.log",
        ];
        let own = ["memory.stats", "artifact.list", "pattern.find", "pattern.list", "events.subscribe", "device.add"];
        for info in methods() {
            let parameters = parameters(info);
            let has = |name: &str| parameters.iter().any(|p| p == name);
            let (takes, name) = (info.takes, info.name);
            let listed = filters.contains(&name) || own.contains(&name);
            assert_eq!(takes.device == DeviceUse::Reached, has("url") && has("device"), "{name}: url");
            assert!(takes.device == DeviceUse::None || has("device"), "{name} has no device");
            assert!(listed || takes.device != DeviceUse::None || !has("device"), "{name} does not name its device");
            assert!(!takes.session || has("session"), "{name} has no session");
            assert!(listed || takes.session || !has("session"), "{name} does not name its session");
            assert_eq!(takes.timeout, has("timeoutMs") && !listed, "{name}: timeoutMs");
        }
    }
}
