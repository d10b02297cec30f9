import { LONG_ANSWER_MS, serverClient } from './answer-limit.ts';

/**
 * Runs statements one after another on a connection of their own, outside of any transaction: for those that allow none.
 * @returns the rows of the last one
 */
export async function executeOnServer(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = serverClient({ url, name: 'subscription-service-drill', connectMs: 5_000, answerMs: LONG_ANSWER_MS });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
