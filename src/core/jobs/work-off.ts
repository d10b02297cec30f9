import type { App } from '../app.ts';

const PAGE = 100;

interface Work<Item> {
  /** Up to `limit` items behind the given one, in an order that stays; null = from the first. */
  list: (after: Item | null, limit: number) => Promise<Item[]>;
  /** Does one item, which may be done or gone by now. */
  each: (item: Item) => Promise<unknown>;
  /** What the log says of an item that failed: a sentence, and what it was. */
  failure: (item: Item) => [string, Record<string, unknown>];
}

/** Works a long list off page by page. An item that fails is left to the job's next round and holds up no other. */
export async function workOff<Item>(app: Pick<App, 'log'>, { list, each, failure }: Work<Item>): Promise<void> {
  for (let after: Item | null = null; ; ) {
    const page: Item[] = await list(after, PAGE);
    for (const item of page) {
      try {
        await each(item);
      } catch (error) {
        const [message, facts] = failure(item);
        app.log.warn({ err: error, ...facts }, message);
      }
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!;
  }
}
