/**
 * Reads one item further than the caller, so that the next one is prepared while the caller works on this one. When the caller stops early, the
 * source is closed after the item that is being prepared.
 */
export async function* oneAhead<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item> {
  const start = (): Promise<IteratorResult<Item>> => {
    const item = source.next();
    // Whoever stops early does not ask for it any more.
    item.catch(() => undefined);
    return item;
  };
  let next = start();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = start();
      yield value;
    }
  } finally {
    await source.return(undefined);
  }
}
