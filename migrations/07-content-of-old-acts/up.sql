-- Acts of earlier schemas do not know the content of the page that they were done on, without which "nothing changed" cannot be told
-- from "the page changed". The observation before them has it. What they led to is decided again.
UPDATE events SET outcome = NULL, after_page_id = NULL, after_below_id = NULL, arrived_ms = NULL, verified = 0, refuted = 0
WHERE content_hash IS NULL AND before_uid IS NOT NULL AND category IN ('act', 'recover');
UPDATE events SET content_hash = (SELECT o.content_hash FROM observations o WHERE o.uid = events.before_uid)
WHERE content_hash IS NULL AND before_uid IS NOT NULL;

UPDATE store SET rebuild_cursor = -1, rebuild_upto = max((SELECT coalesce(max(seq), 0) FROM events),
    (SELECT coalesce(max(seq), 0) FROM observations));
