-- Equal actions on other pages: the same verb and parameters on an element with the same role, title and id, and the same verb on an
-- element with the same role. An action that was never performed on a page is predicted from them.
ALTER TABLE transitions ADD COLUMN element_key TEXT GENERATED ALWAYS AS (
    CASE WHEN json_valid(action) AND (json_extract(action, '$.target') IS NOT NULL OR json_extract(action, '$.point') IS NULL) THEN
        json_extract(action, '$.verb')
        || '|' || coalesce(json_extract(action, '$.target.role'), '')
        || '|' || coalesce(json_extract(action, '$.target.title'), json_extract(action, '$.target.label'), '')
        || '|' || coalesce(json_extract(action, '$.target.resId'), '')
        || '|' || coalesce(json_extract(action, '$.params'), '')
    END) VIRTUAL;
ALTER TABLE transitions ADD COLUMN role_key TEXT GENERATED ALWAYS AS (
    CASE WHEN json_valid(action) THEN json_extract(action, '$.verb') || '|' || json_extract(action, '$.target.role') END) VIRTUAL;
CREATE INDEX transitions_by_element ON transitions (app, element_key, last_at DESC) WHERE element_key IS NOT NULL;
CREATE INDEX transitions_by_role ON transitions (app, role_key, last_at DESC) WHERE role_key IS NOT NULL;
