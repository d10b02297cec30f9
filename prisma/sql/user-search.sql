-- The windows that a text must contain to contain the term: necessary, not sufficient, so the caller compares the text as well. Only the
-- first 32 windows of a term are used. The functions of the indexed side, user_search_text() and search_windows(), are in
-- prisma/migrations: after a change of them the indexes users_search and users_admin_search must be rebuilt.
--- the windows that a text must contain to contain a term
CREATE OR REPLACE FUNCTION search_query(p_term text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT string_agg('''' || replace(replace(substr(lower(p_term), i, 3), '\', '\\'), '''', '''''') || ''''
    || CASE WHEN length(lower(p_term)) < 3 THEN ':*' ELSE '' END, ' & ')::tsquery
  FROM generate_series(1, least(greatest(length(lower(p_term)) - 2, 1), 32)) AS i
$$;
