import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RefusalObserver } from '../../src/rest/error-replies.ts';

/** One line of a worker's file; `npm run refusals` merges them. */
export interface ObservedRefusal {
  operation: string;
  status: number;
  code: string;
  detail: string | { code: string; message: string };
}

declare global {
  var recordedRefusals: Set<string> | undefined;
}

const folder = process.env.REFUSALS_FOLDER;

/**
 * Appends each distinct refusal to a file of this process in `REFUSALS_FOLDER`; undefined where nothing is to be recorded. Left out:
 * entries of validation (422), which every operation with an input has in one generic form, and failures of the service (500).
 */
export const observeRefusal: RefusalObserver | undefined = folder === undefined ? undefined : recorder(folder);

function recorder(target: string): RefusalObserver {
  mkdirSync(target, { recursive: true });
  const file = join(target, `${process.pid}.jsonl`);
  return (operation, { status, code, body: { detail } }) => {
    if (status === 500 || Array.isArray(detail)) return;
    const line = JSON.stringify({ operation, status, code, detail } satisfies ObservedRefusal);
    globalThis.recordedRefusals ??= new Set();
    if (globalThis.recordedRefusals.has(line)) return;
    globalThis.recordedRefusals.add(line);
    appendFileSync(file, `${line}\n`);
  };
}
