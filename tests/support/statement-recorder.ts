import pg from 'pg';

/**
 * Records what is sent to the PostgreSQL server while `run` works: the statements of each transaction, BEGIN and COMMIT included, one list a
 * transaction; then everything that was sent outside of one. Nothing else may use the server meanwhile.
 */
export async function statementsDuring(run: () => Promise<unknown>): Promise<{ transactions: string[][]; others: string[] }> {
  const transactions: string[][] = [];
  const others: string[] = [];
  const open = new Map<pg.Client, string[]>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function recorded(this: pg.Client, ...args: unknown[]) {
    // The reader of events looks when it likes.
    if (applicationOf(this) === SIDE) return Reflect.apply(query, this, args);
    const statement = textOf(args[0]);
    if (/^BEGIN\b/i.test(statement)) {
      open.set(this, []);
      transactions.push(open.get(this)!);
    }
    (open.get(this) ?? others).push(statement);
    if (/^(?:COMMIT|ROLLBACK)\b/i.test(statement)) open.delete(this);
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await run();
  } finally {
    pg.Client.prototype.query = query;
  }
  return { transactions, others };
}

/** The connection beside the pool. */
const SIDE = 'subscription-service-beside';

function applicationOf(client: pg.Client): string | undefined {
  return (client as unknown as { connectionParameters: { application_name?: string } }).connectionParameters.application_name;
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : (statement as { text: string }).text;
}
