import type { App } from '../app.ts';

const PAGE = 100;

interface PagedWork<Item> {
  /** Up to `limit` items after the given one, in a stable order; null = from the first. */
  list: (after: Item | null, limit: number) => Promise<Item[]>;
  /** Processes one item, which may be processed already, or deleted, by now. */
  each: (item: Item) => Promise<unknown>;
  /** The log line of an item that failed: a sentence and the fields that identify the item. */
  failure: (item: Item) => [string, Record<string, unknown>];
}

/** Processes a long list page by page. An item that fails is logged and left to the job's next round; the others are not affected. */
export async function forEachPage<Item>(app: Pick<App, 'log'>, { list, each, failure }: PagedWork<Item>): Promise<void> {
  for (let after: Item | null = null; ; ) {
    const page: Item[] = await list(after, PAGE);
    for (const item of page) {
      try {
        await each(item);
      } catch (error) {
        const [message, fields] = failure(item);
        app.log.warn({ err: error, ...fields }, message);
      }
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!;
  }
}
