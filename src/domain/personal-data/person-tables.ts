import type { Db } from '../../core/db/db.ts';
import { rowBatch } from '../../core/db/statement-values.ts';
import { ACCOUNT_TABLES } from './account-tables.ts';
import { CONTACT_TABLES } from './contact-tables.ts';
import type { PersonalTable, Phase } from './personal-table.ts';

export const PERSONAL_TABLES: readonly PersonalTable[] = [...ACCOUNT_TABLES, ...CONTACT_TABLES];

/** What is known of a person, by which rows are found. */
export interface Person {
  userId: number;
  messengerId: number | null;
  /** In lower case: the address, and one that was not confirmed yet. */
  emails: readonly string[];
  panelUuid: string | null;
  /** Whom others were shown; null when the account has no name. */
  name: string | null;
  /** ISO 8601; absent before the erasure, and from what a former release has left to do. */
  erasedAt?: string;
}

const TOKENS: Record<string, { type: string; of: (person: Person) => unknown }> = {
  user: { type: 'int', of: ({ userId }) => userId },
  messenger: { type: 'bigint', of: ({ messengerId }) => messengerId },
  emails: { type: 'text[]', of: ({ emails }) => emails },
  panel: { type: 'uuid', of: ({ panelUuid }) => panelUuid },
  name: { type: 'text', of: ({ name }) => name },
  at: { type: 'timestamptz', of: ({ erasedAt }) => erasedAt ?? null },
};

/** SQL of the list with parameters. @param values those that stand in the statement already; those of the person are added */
export function bind(sql: string, person: Person, values: unknown[]): string {
  const numbers = new Map<string, number>();
  return sql.replace(/\$(user|messenger|emails|panel|name|at)\b/g, (_, token: string) => {
    const { type, of } = TOKENS[token]!;
    if (!numbers.has(token)) numbers.set(token, values.push(of(person)));
    return `$${numbers.get(token)}::${type}`;
  });
}

const BATCH = 5_000;

/**
 * Deletes and clears the person's rows of one phase, in batches: each is a statement, and a repetition does what remains.
 * @param signal ends it between two batches
 */
export async function eraseTables(db: Db, phase: Phase, person: Person, signal?: AbortSignal): Promise<void> {
  for (const entry of PERSONAL_TABLES) {
    if ((entry.erasure.by !== 'delete' && entry.erasure.by !== 'clear') || entry.erasure.when !== phase) continue;
    const values: unknown[] = [];
    const statement = bind(erasingSql(entry, entry.erasure), person, values);
    for (let rows = BATCH; rows > 0 && !signal?.aborted; ) rows = (await db.sql(statement, values)).length;
  }
  signal?.throwIfAborted();
}

function erasingSql({ table, of }: PersonalTable, erasure: Extract<PersonalTable['erasure'], { when: Phase }>): string {
  const kept = erasure.unless === undefined ? '' : ` AND NOT coalesce(${erasure.unless}, false)`;
  const change = (statement: string, condition = '') => {
    const batch = rowBatch(table, `${of}${kept}${condition}`, BATCH);
    return `${batch.with} ${statement} WHERE ${batch.contains} RETURNING 1 AS done`;
  };
  if (erasure.by === 'delete') return change(`DELETE FROM ${table} r`);
  const columns = Object.entries(erasure.set);
  const differs = columns.map(([column, value]) => `r.${column} IS DISTINCT FROM (${value})`).join(' OR ');
  const set = columns.map(([column, value]) => `${column} = ${value}`).join(', ');
  return change(`UPDATE ${table} r SET ${set}`, ` AND (${differs})`);
}
