import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclaredRefusal } from '../../src/core/errors.ts';
import type { RefusalObserver } from '../../src/rest/error-replies.ts';
import type { OperationMeta } from '../../src/routers/operation-meta.ts';
import { appRouter } from '../../src/routers/root.ts';

/** One line of a worker's file, which `npm run refusals` reads. */
export interface ObservedRefusal {
  operation: string;
  status: number;
  code: string;
}

declare global {
  var recordedRefusals: Set<string> | undefined;
  var undeclaredRefusals: string[] | undefined;
}

const procedures = appRouter._def.procedures as unknown as Record<string, { _def: { meta?: OperationMeta } } | undefined>;
const folder = process.env.REFUSALS_FOLDER;

/**
 * Compares each refusal with what its procedure declares, and appends each distinct one to a file of this process in `REFUSALS_FOLDER`,
 * where that is set.
 */
export const observeRefusal: RefusalObserver = (operation, refusal) => {
  const { status, code } = refusal;
  compareRefusal(operation, refusal);
  if (folder === undefined || isLeftOut(refusal)) return;
  const line = JSON.stringify({ operation, status, code } satisfies ObservedRefusal);
  globalThis.recordedRefusals ??= new Set();
  if (globalThis.recordedRefusals.has(line)) return;
  globalThis.recordedRefusals.add(line);
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${line}\n`);
};

/**
 * Compares each refusal with what its procedure declares. Left out: entries of validation (422), which every operation with an input has in
 * one generic form, and failures of the service (500).
 */
export const compareRefusal: RefusalObserver = (operation, refusal) => {
  if (isLeftOut(refusal)) return;
  const { status, code } = refusal;
  const meta = procedures[operation]?._def.meta;
  if (meta === undefined || isDeclared(meta, status, code)) return;
  const problem = `${operation} refused with ${status} ${code}, which its procedure does not declare (\`refuses\` in its metadata)`;
  console.error(problem);
  globalThis.undeclaredRefusals ??= [];
  globalThis.undeclaredRefusals.push(problem);
};

const isLeftOut: (refusal: Parameters<RefusalObserver>[1]) => boolean = ({ status, body }) =>
  status === 500 || Array.isArray(body.detail);

/** Fails the test after which it runs. Of concurrent tests it may be another one than the test that provoked the refusal. */
export function failOnUndeclaredRefusals(): void {
  const found = globalThis.undeclaredRefusals ?? [];
  globalThis.undeclaredRefusals = [];
  if (found.length > 0) throw new Error(found.join('\n'));
}

function isDeclared({ refuses = [], guardRefuses = [] }: OperationMeta, status: number, code: string): boolean {
  return [...refuses, ...guardRefuses].some((declared: DeclaredRefusal) => declared.status === status && declared.code === code);
}
