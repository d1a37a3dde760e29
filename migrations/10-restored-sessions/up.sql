-- What a session did in another copy of this memory, as the file that it was restored from says: figures and visited pages.
ALTER TABLE sessions ADD COLUMN elsewhere TEXT CHECK (elsewhere IS NULL OR json_valid(elsewhere));
-- Number of rows that the list of a tested row had on the screen; NULL for an element that is not in a list.
ALTER TABLE tested_elements ADD COLUMN list_rows INTEGER;
