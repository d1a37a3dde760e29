//! Splitting a token budget between the parts of a context.

use afd_proto::context::Allocation;

use afd_base::config::Conversation as Settings;

/// Splits a budget of `total` tokens by the percentages in the settings.
pub fn allocate(total: i64, settings: &Settings) -> Allocation {
    let share = |percent: u64| i64::try_from(i128::from(total) * i128::from(percent) / 100).unwrap_or(0);
    Allocation {
        system: share(settings.split_system),
        knowledge: share(settings.split_knowledge),
        history: share(settings.split_history),
        current_task: share(settings.split_current_task),
        tools: share(settings.split_tools),
        buffer: share(settings.split_buffer),
    }
}

/// Returns whether `asked` more tokens fit in addition to the `used` tokens and the safety buffer.
pub fn can_afford(used: i64, asked: i64, total: i64, allocation: &Allocation) -> bool {
    used.saturating_add(asked) < total - allocation.buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_split_by_the_default_percentages() {
        let split = allocate(4_001, &Settings::default());
        assert_eq!((split.system, split.knowledge, split.history), (600, 800, 1_400));
        assert_eq!((split.current_task, split.tools, split.buffer), (600, 400, 200));
        assert!(can_afford(3_000, 800, 4_001, &split) && !can_afford(3_000, 801, 4_001, &split));
    }
}
