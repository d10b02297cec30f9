/** What a drill must undo even when it is interrupted: databases, clusters. */

const open: (() => Promise<void>)[] = [];

/** Remembers `work` for an interruption. @returns `work`, to be called once; afterwards it is forgotten */
export function undoAtEnd(work: () => Promise<void>): () => Promise<void> {
  open.push(work);
  return async () => {
    const index = open.indexOf(work);
    if (index === -1) return;
    open.splice(index, 1);
    await work();
  };
}

/** Undoes everything that is open, the latest first. */
export async function undoNow(): Promise<void> {
  for (let work = open.pop(); work !== undefined; work = open.pop())
    await work().catch((error: unknown) => console.error(String(error)));
}
