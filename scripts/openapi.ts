/** Writes the API document to `src/generated/openapi.json`: the service makes its routes of it and serves it. Run by the build and by the tests. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildServiceDocument } from '../src/rest/service-document.ts';

const folder = join(import.meta.dirname, '..', 'src', 'generated');
const fresh = join(folder, `.openapi-${process.pid}.json`);
await mkdir(folder, { recursive: true });
await writeFile(fresh, JSON.stringify(buildServiceDocument().document));
// Another process may read it meanwhile.
await rename(fresh, join(folder, 'openapi.json'));
