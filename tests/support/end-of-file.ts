declare global {
  var endOfFileTasks: (() => Promise<void>)[] | undefined;
}

/**
 * @param task runs after the last test of the file, when its servers are closed, and before the database is emptied for the next file: writes what
 *   would otherwise come later, or deletes what the file made outside of the database
 */
export function atEndOfFile(task: () => Promise<void>): void {
  globalThis.endOfFileTasks ??= [];
  globalThis.endOfFileTasks.push(task);
}

export async function runEndOfFileTasks(): Promise<void> {
  const tasks = globalThis.endOfFileTasks ?? [];
  globalThis.endOfFileTasks = [];
  for (const task of tasks) await task();
}
