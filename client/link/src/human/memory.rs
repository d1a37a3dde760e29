//! Renders the results of the `memory` commands.

use afd_proto::upkeep::{
    Exported, ImportCounts, Imported, MemoryExport, MemoryImport, MemoryPrune, MemoryVacuum, Pruned, Vacuumed,
};

use super::parts::{self, bytes, count, paint, table};
use super::render::human;

human! {
    MemoryExport => |e: &Exported| {
        let total: u64 = e.records.values().sum();
        format!("{} {} to {} ({})\n", paint(parts::GOOD, "wrote"), count(total, "record"), e.file, bytes(e.bytes))
    };
    MemoryImport => imported;
    MemoryPrune => pruned;
    MemoryVacuum => |v: &Vacuumed| format!("{} {} before, {} now\n", paint(parts::GOOD, "rewritten:"), bytes(v.before_bytes), bytes(v.after_bytes));
}

fn imported(done: &Imported) -> String {
    let row = |(name, c): (&String, &ImportCounts)| {
        let [added, renewed, present, left_out] = [c.added, c.renewed, c.present, c.left_out].map(|n| n.to_string());
        [name.clone(), added, renewed, present, left_out]
    };
    let mut out = parts::dry_run(done.dry_run)
        + &table(["record", "added", "renewed", "present", "left out"], done.records.iter().map(row));
    for remark in &done.remarks {
        out += &format!("{} {remark}\n", paint(parts::WARN, "left out:"));
    }
    out
}

fn pruned(pruned: &Pruned) -> String {
    let verb = if pruned.dry_run { paint(parts::WARN, "would delete") } else { paint(parts::GOOD, "deleted") };
    format!(
        "{verb} {} events and {} observations from before {}; {} in use\n",
        pruned.events,
        pruned.observations,
        parts::time(pruned.before),
        bytes(pruned.used_bytes)
    )
}
