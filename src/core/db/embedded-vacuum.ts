import type { PGlite } from '@electric-sql/pglite';

/**
 * What autovacuum does on a server: the embedded database starts no such process, so without this its files would grow with each update, and
 * its plans would follow the sizes that the tables had at first. Vacuums and analyses the tables above the limits of autovacuum, one after
 * the other; other statements run in between. @returns their names
 */
export type TableVacuum = (signal: AbortSignal) => Promise<string[]>;

const setting = (name: string): string => `current_setting('autovacuum_${name}')::float8`;
const exceeds = (counter: string, kind: string): string =>
  `s.${counter} > ${setting(`${kind}_threshold`)} + ${setting(`${kind}_scale_factor`)} * s.n_live_tup`;

/** System tables have few updates; like all others they are frozen before their oldest transaction id is reused. */
const DUE = `SELECT quote_ident(s.schemaname) || '.' || quote_ident(s.relname) AS name, d.needs_vacuum
  FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
  CROSS JOIN LATERAL (SELECT ${exceeds('n_dead_tup', 'vacuum')} OR ${exceeds('n_ins_since_vacuum', 'vacuum_insert')}
    OR age(c.relfrozenxid) > ${setting('freeze_max_age')} AS needs_vacuum) d
  WHERE s.schemaname <> 'pg_toast' AND (d.needs_vacuum OR ${exceeds('n_mod_since_analyze', 'analyze')})
    AND (s.schemaname NOT IN ('pg_catalog', 'information_schema') OR age(c.relfrozenxid) > ${setting('freeze_max_age')})
  ORDER BY s.schemaname, s.relname`;

export function embeddedVacuum(database: PGlite): TableVacuum {
  return async (signal) => {
    // The counters of the last second have not been added up yet.
    await database.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await database.query<{ name: string; needs_vacuum: boolean }>(DUE);
    const done: string[] = [];
    for (const { name, needs_vacuum: needsVacuum } of rows) {
      if (signal.aborted) break;
      // A statement of its own, outside a transaction, which waits for one that is open.
      await database.exec(`${needsVacuum ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${name}`);
      done.push(name);
    }
    return done;
  };
}
