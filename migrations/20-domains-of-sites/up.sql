-- No search asks where in an entry a token is. Without that, the index takes a third of the space.
DROP TABLE text_words;
DROP TABLE text_index;
CREATE VIRTUAL TABLE text_index USING fts5
    (tokens, content = 'entry_texts', content_rowid = 'entry_id', tokenize = 'ascii', columnsize = 0, detail = none);
INSERT INTO text_index (text_index, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE text_words USING fts5vocab (text_index, row);
INSERT INTO text_index (text_index) VALUES ('rebuild');
-- Sites are named by their domains: `united.com`, which was `united_com`. A site without a domain has its host with the port, as it was recorded.
UPDATE apps SET site = coalesce(
    (SELECT value FROM json_each(hosts)
     WHERE replace(replace(replace(replace(value, '.', '_'), ':', '_'), '[', ''), ']', '') = site LIMIT 1),
    replace(site, '_', '.')) WHERE site <> '';
-- The sites of entries and the properties of notes are derived again.
UPDATE entries SET due = 1 WHERE gone = 0 AND kind NOT IN ('message', 'session');
-- Vectors that were emptied with their sketches are computed again. From now on, the sketches are kept.
UPDATE embeddings SET content = 0 WHERE vector = x''
    AND NOT EXISTS (SELECT 1 FROM sketches s WHERE s.model_id = embeddings.model_id AND s.entry_id = embeddings.entry_id);
