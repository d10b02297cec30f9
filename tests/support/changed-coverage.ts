/** Records what a test file runs of the changed source, for `scripts/changed-coverage.mjs`; without `COVERAGE_FOLDER` it does nothing. */
import { appendFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { afterAll } from 'vitest';

declare global {
  var coverageSession: Session | undefined;
}

const { COVERAGE_FOLDER: folder, COVERAGE_FILES: files } = process.env;

// One a worker, before it loads the source. The positions are those of the source files, because the engine strips the types in place.
if (folder && files) {
  const changed = new Set(JSON.parse(files) as string[]);
  globalThis.coverageSession ??= await started();
  const session = globalThis.coverageSession;
  afterAll(async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const lines = result.filter(({ url }) => changed.has(url)).map((script) => `${JSON.stringify(script)}\n`);
    appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), lines.join(''));
  });
}

async function started(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return session;
}
