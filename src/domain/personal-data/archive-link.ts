import { createHmac, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { storedSecret } from '../../core/stored-secret.ts';
import { publicBase } from '../messaging/send-message.ts';
import { type DataRequest, findPart, findRequest } from './repo.ts';

export const archiveNotFound = refusal('data_archive_not_found', 404, 'Archive not found, or its link has expired');
export const archiveNotReady = refusal('data_archive_not_ready', 409, 'The archive is not ready, or has been deleted');

/** Row of `service_state`; its secret signs nothing else. */
const SECRET = 'personal-data:link-secret';
const LINK = /^([1-9]\d{0,9})\.([0-9a-z]{1,9})\.([\w-]{43})$/;
const LINK_MINUTES = 15;

/** An address at which the archive can be loaded without a credential for 15 minutes. @throws AppError 409 unless it is ready */
export async function linkTo(app: App, request: DataRequest, baseUrl: string | null): Promise<{ url: string; expiresAt: Date }> {
  if (!isLoadable(app, request)) throw archiveNotReady();
  const expiresAt = addMs(app.clock.now(), LINK_MINUTES * MINUTE_MS);
  const end = expiresAt.getTime().toString(36);
  const link = `${request.id}.${end}.${signature(await storedSecret(app, SECRET), request, end)}`;
  return { url: `${baseUrl ?? publicBase(app)}/cabinet/personal-data/archive/${link}`, expiresAt };
}

/** The archive of a link as it is read from the database, part by part. @throws AppError 404 for every link that is not valid now */
export async function openArchiveLink(app: App, link: string): Promise<{ name: string; sizeBytes: number; content: Readable }> {
  const [, id, end, given] = LINK.exec(link) ?? [];
  const request = isRowId(Number(id)) ? await findRequest(app.db, Number(id)) : null;
  if (!request || end === undefined || given === undefined) throw archiveNotFound();
  const expected = signature(await storedSecret(app, SECRET), request, end);
  const isValid = timingSafeEqual(Buffer.from(expected), Buffer.from(given));
  if (!isValid || Number.parseInt(end, 36) <= app.clock.now().getTime() || !isLoadable(app, request)) throw archiveNotFound();
  const content = Readable.from(partsOf(app, request), { objectMode: false });
  return { name: `personal-data-${request.userId}.tar.gz`, sizeBytes: request.sizeBytes!, content };
}

function isLoadable(app: App, { kind, state, expiresAt }: DataRequest): boolean {
  return kind === 'export' && state === 'ready' && expiresAt !== null && expiresAt > app.clock.now();
}

/** Of one run, so that a link is void for an archive that was written again. */
function signature(secret: string, { id, run }: DataRequest, end: string): string {
  return createHmac('sha256', secret).update(`${id}\n${run}\n${end}`).digest('base64url');
}

async function* partsOf(app: App, { id: requestId, run }: DataRequest): AsyncGenerator<Uint8Array> {
  for (let part = 0; ; part += 1) {
    const content = await findPart(app.db, { requestId, run, part });
    if (!content) return;
    yield content;
  }
}
