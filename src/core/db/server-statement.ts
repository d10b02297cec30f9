import pg from 'pg';

/**
 * Runs statements one after another on a connection of their own, outside of any transaction: for those that allow none.
 * @returns the rows of the last one
 */
export async function executeOnServer(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'subscription-service-drill',
  });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
