declare global {
  var endOfFileTasks: (() => Promise<void>)[] | undefined;
}

/** @param task runs after the last test of the file, when its servers are closed: what it writes must not reach the next file's database. */
export function atEndOfFile(task: () => Promise<void>): void {
  globalThis.endOfFileTasks ??= [];
  globalThis.endOfFileTasks.push(task);
}

export async function runEndOfFileTasks(): Promise<void> {
  const tasks = globalThis.endOfFileTasks ?? [];
  globalThis.endOfFileTasks = [];
  for (const task of tasks) await task();
}
