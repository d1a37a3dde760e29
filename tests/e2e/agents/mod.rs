//! A scripted agent does tasks, first without memory and then with it, in two ways: it reads the whole page as JSON before
//! each action, or it acts with `then: "outline"`. It decides only by the output that it has read. The tests count its calls
//! and the tokens in its context: the commands and their output.

mod agent;
pub mod task;

use afd_base::model::Tokenizers;
use afd_tests::World;
use serde_json::{Value, json};

use agent::{Agent, Cost};
use task::{HELD, OTHERS, Set, Task};

const BANK: &str = "org.example.bank";

/// Prepares the phone for a task. The other apps forget what earlier tasks changed.
fn begin(world: &World, app: &str) {
    if task::is_other(app) {
        world.phone.lock().wipe(app, true);
    }
    world.phone.scene(app, None);
    world.phone.run(json!({"do": "scroll", "pixels": -100_000}));
    for name in ["user", "password"] {
        world.phone.run(json!({"do": "set", "app": BANK, "name": name, "value": ""}));
    }
}

/// Lets a session do a task. The program that runs the agent records the task, in the words of the user.
fn recorded(world: &World, session: &str, task: &Task, work: impl FnOnce()) {
    let mut client = world.client();
    let mut tasks = |method: &str, params: Value| {
        let mut params = params;
        params["session"] = json!(session);
        client.ok(method, params)
    };
    let words = task.names().pop();
    if let Some(words) = &words {
        let id = tasks("session.task.add", json!({"description": words}))["id"].clone();
        tasks("session.task.start", json!({"id": id}));
    }
    work();
    if words.is_some() {
        tasks("session.task.finish", json!({"status": "passed"}));
    }
}

fn work(agent: &mut Agent<'_>, world: &World, tasks: &[Task]) -> Cost {
    agent.cost = Cost::default();
    for task in tasks {
        let before = agent.cost.calls;
        begin(world, &task.app);
        match agent.remembers {
            true => agent.remember(&task.app, &task.steps, &task.names()),
            false => recorded(world, agent.session, task, || agent.explore(&task.app, &task.steps)),
        }
        println!("{}: {} calls, {:?}", agent.session, agent.cost.calls - before, task.names());
    }
    agent.cost
}

/// Lets an agent do tasks that reads outlines, as a session of its own.
fn outlines(world: &World, session: &str, (tasks, remembers): (&[Task], bool)) -> Cost {
    let counter = Tokenizers::default().counter("gpt-4o");
    let count = |text: &str| counter.count(text);
    let mut agent = Agent::new(world.client_for(session), session, &count, (true, remembers));
    work(&mut agent, world, tasks)
}

#[test]
fn outlines_cost_a_sixth_of_the_tokens_and_memory_saves_half_of_the_calls() {
    let counter = Tokenizers::default().counter("gpt-4o");
    let count = |text: &str| counter.count(text);
    let costs = [false, true].map(|outlines| {
        let world = World::new();
        [("first", false), ("second", true)].map(|(session, remembers)| {
            let client = world.client_for(session);
            let mut agent = Agent::new(client, session, &count, (outlines, remembers));
            work(&mut agent, &world, &task::builtin())
        })
    });
    for (i, memory) in ["without memory", "with memory"].into_iter().enumerate() {
        let (old, new) = (costs[0][i], costs[1][i]);
        let (tokens, calls) = (new.tokens as f64 / old.tokens as f64, new.calls as f64 / old.calls as f64);
        println!("{memory}: {old:?} as JSON, {new:?} as outlines: {tokens:.3} of the tokens, {calls:.3} of the calls");
        assert!(tokens <= 0.16, "{memory}: {tokens:.3} of the tokens");
        // With memory there is less to read, so outlines save fewer calls.
        assert!(calls <= [0.57, 0.65][i], "{memory}: {calls:.3} of the calls");
    }
    let [without, with] = costs[1];
    let (calls, tokens) = (with.calls as f64 / without.calls as f64, with.tokens as f64 / without.tokens as f64);
    println!("with memory {calls:.3} of the calls and {tokens:.3} of the tokens without");
    assert!(
        calls <= 0.6 && tokens <= 0.7,
        "memory saves too little: {calls:.3} of the calls, {tokens:.3} of the tokens"
    );
}

/// Costs of a set of tasks: without memory, with it, with goals in other words, and both after an update of the apps.
struct Costs {
    without: Cost,
    with: Cost,
    rephrased: Cost,
    updated_without: Cost,
    updated_with: Cost,
}

fn costs(set: &Set) -> Costs {
    let tasks = set.tasks();
    let updated: Vec<Task> = tasks.iter().map(Task::updated).collect();
    let world = World::with(set.phone(0), "");
    let without = outlines(&world, "first", (&tasks, false));
    let with = outlines(&world, "second", (&tasks, true));
    let rephrased = outlines(&world, "rephrased", (&set.rephrased(), true));
    for app in set.apps(1) {
        world.phone.lock().install(app);
    }
    let updated_with = outlines(&world, "third", (&updated, true));
    // A phone that had the update from the beginning, and an empty memory.
    let fresh = World::with(set.phone(1), "");
    let updated_without = outlines(&fresh, "first", (&updated, false));
    Costs { without, with, rephrased, updated_without, updated_with }
}

/// Returns the shares of calls and of tokens.
fn share(what: &str, with: Cost, without: Cost) -> (f64, f64) {
    let shares = (with.calls as f64 / without.calls as f64, with.tokens as f64 / without.tokens as f64);
    let (calls, tokens) = shares;
    println!(
        "{what}: {without:?} without memory, {with:?} with it: {calls:.3} of the calls, {tokens:.3} of the tokens"
    );
    shares
}

/// Five apps and ten tasks of other people, before and after an update of each app. Four goals are sentences in other words
/// than the app's: they are known from the tasks of the first session.
#[test]
fn memory_saves_calls_in_other_apps_and_after_updates() {
    let costs = costs(&OTHERS);
    let (calls, tokens) = share(OTHERS.name, costs.with, costs.without);
    let (calls_2, tokens_2) = share("after updates", costs.updated_with, costs.updated_without);
    assert!(calls <= 0.5 && calls_2 <= 0.5, "{calls:.3} of the calls, {calls_2:.3} after updates");
    assert!(tokens <= 0.4 && tokens_2 <= 0.4, "{tokens:.3} of the tokens, {tokens_2:.3} after updates");
}

/// Three apps and nine tasks that were kept aside while the rules were made.
#[test]
fn memory_saves_calls_in_apps_kept_aside() {
    let costs = costs(&HELD);
    let (calls, _) = share(HELD.name, costs.with, costs.without);
    let (rephrased, _) = share("goals in other words", costs.rephrased, costs.without);
    let (calls_2, _) = share("after updates", costs.updated_with, costs.updated_without);
    assert!(calls <= 0.5 && calls_2 <= 0.75, "{calls:.3} of the calls, {calls_2:.3} after updates");
    assert!(rephrased <= 1.0, "{rephrased:.3} of the calls with goals in other words");
}
