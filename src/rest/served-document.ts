/**
 * The API document as `scripts/openapi.ts` writes it: beside the bundle, or in `src/generated` when the sources are run. Making it costs a
 * second and 100 MiB, so that a start only reads it: its operations for the routes, its text for `/openapi.json`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Operation, operationsOf } from './route-table.ts';

export const SERVICE_TITLE = 'Subscription Service';

const FILE = 'openapi.json';
const besideBundle = join(import.meta.dirname, FILE);
const file = existsSync(besideBundle) ? besideBundle : join(import.meta.dirname, '..', 'generated', FILE);

/** The document as it is written. */
export const writtenDocument = (): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** The operations of the document, of which the routes are made. */
export function servedOperations(): Operation[] {
  return operationsOf(JSON.parse(readFileSync(file, 'utf8')));
}

/** The document in JSON with the title that the service has at present. */
export async function servedDocument(title: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  return text.replace(titleField(SERVICE_TITLE), () => titleField(title));
}

/** As the first one stands in the document, that of its `info`. */
const titleField = (title: string): string => `"title":${JSON.stringify(title)}`;
