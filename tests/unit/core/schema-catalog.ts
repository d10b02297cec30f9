/**
 * Every object of the schema `public` as one row of name and definition, in order. Column positions are left out: a column that was
 * added later stands last.
 */
export const SCHEMA_CATALOG = `
SELECT 'table ' || c.relname AS name, c.relkind::text AS definition FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
  CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), a.attidentity::text || a.attgenerated::text)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'constraint ' || c.conrelid::regclass || '.' || c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c
WHERE c.connamespace = 'public'::regnamespace AND c.conrelid <> 0
UNION ALL
SELECT 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'function ' || p.oid::regprocedure, pg_get_functiondef(p.oid) FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.prokind <> 'a'
UNION ALL
SELECT 'trigger ' || t.tgrelid::regclass || '.' || t.tgname, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text FROM pg_trigger t
WHERE NOT t.tgisinternal
UNION ALL
SELECT 'sequence ' || s.seqrelid::regclass, concat_ws(' ', format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, (
  SELECT d.refobjid::regclass || '.' || a.attname FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  WHERE d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid AND d.deptype = 'a'))
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'type ' || typname, typtype::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typrelid = 0 AND typelem = 0
UNION ALL
SELECT 'extension ' || extname, extversion FROM pg_extension
ORDER BY 1`;
