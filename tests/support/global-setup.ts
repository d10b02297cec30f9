import { beginRun, prepareTemplate } from './test-database.ts';

/** Before the first worker; what it returns runs after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  const clearUp = beginRun();
  await prepareTemplate();
  return clearUp;
}
