import { columns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { ApiToken } from './types.ts';

/** Never `tokenHash`: what a use case returns may reach an answer. */
export const TOKEN = columns('ApiToken', [
  ...(['id', 'name', 'tokenPrefix', 'description', 'isActive', 'createdAt', 'updatedAt', 'expiresAt'] as const),
  ...(['lastUsedAt', 'lastUsedIp', 'createdBy', 'scopes', 'allowedAddresses', 'previousUntil'] as const),
]);

/** Newest first, at most 1,000. */
export function listTokens(db: Db): Promise<ApiToken[]> {
  return db.sql<ApiToken>(`SELECT ${TOKEN.of()} FROM web_api_tokens ORDER BY created_at DESC, id DESC LIMIT 1000`);
}

/** @returns with `isPrevious` for the text before the last rotation, whether or not it is still valid */
export async function findTokenByHash(db: Db, hash: string): Promise<(ApiToken & { isPrevious: boolean }) | null> {
  const [row] = await db.sql<ApiToken & { isPrevious: boolean }>(
    `SELECT ${TOKEN.of()}, token_hash <> $1 AS is_previous FROM web_api_tokens WHERE token_hash = $1 OR previous_hash = $1`,
    [hash],
  );
  return row ?? null;
}

/** The beginnings of the usable tokens of the existing product; with an empty one while a former text of theirs is valid, whose beginning is not stored. */
export async function findImportedPrefixes(db: Db, now: Date): Promise<string[]> {
  const rows = await db.sql<{ tokenPrefix: string; hasFormer: boolean }>(
    `SELECT token_prefix, coalesce(previous_until > $1::timestamptz, false) AS has_former FROM web_api_tokens
     WHERE imported_at IS NOT NULL AND is_active`,
    [now],
  );
  return [...new Set(rows.flatMap(({ tokenPrefix, hasFormer }) => (hasFormer ? [tokenPrefix, ''] : [tokenPrefix])))];
}

export interface NewToken {
  name: string;
  description: string | null;
  hash: string;
  prefix: string;
  expiresAt: Date | null;
  createdBy: string | null;
  scopes: readonly string[] | null;
  allowedAddresses: readonly string[] | null;
  now: Date;
}

export async function insertToken(db: Db, token: NewToken): Promise<ApiToken> {
  const { name, description, hash, prefix, expiresAt, createdBy, scopes, allowedAddresses, now } = token;
  const [row] = await db.sql<ApiToken>(
    `INSERT INTO web_api_tokens (name, description, token_hash, token_prefix, expires_at, created_by, scopes, allowed_addresses, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5::timestamptz, $6, $7::jsonb, $8::jsonb, $9::timestamptz, $9::timestamptz) RETURNING ${TOKEN.of()}`,
    [name, description, hash, prefix, expiresAt, createdBy, jsonOf(scopes), jsonOf(allowedAddresses), now],
  );
  return row!;
}

const jsonOf = (list: readonly string[] | null) => (list === null ? null : JSON.stringify(list));

/** What can be changed of a token. */
export type TokenChange = Pick<NewToken, 'name' | 'description' | 'expiresAt' | 'scopes' | 'allowedAddresses' | 'now'>;

export async function updateToken(db: Db, id: number, change: TokenChange): Promise<ApiToken> {
  const { name, description, expiresAt, scopes, allowedAddresses, now } = change;
  const [row] = await db.sql<ApiToken>(
    `UPDATE web_api_tokens SET name = $2, description = $3, expires_at = $4::timestamptz, scopes = $5::jsonb, allowed_addresses = $6::jsonb,
       updated_at = $7::timestamptz WHERE id = $1::int RETURNING ${TOKEN.of()}`,
    [id, name, description, expiresAt, jsonOf(scopes), jsonOf(allowedAddresses), now],
  );
  return row!;
}

/** Replaces the text of a token; the present one stays valid until `previousUntil`, an earlier one no longer. */
export async function replaceTokenText(
  db: Db,
  id: number,
  { hash, prefix, previousUntil, now }: Pick<NewToken, 'hash' | 'prefix' | 'now'> & { previousUntil: Date },
): Promise<ApiToken> {
  const [row] = await db.sql<ApiToken>(
    `UPDATE web_api_tokens SET previous_hash = token_hash, previous_until = $4::timestamptz, token_hash = $2, token_prefix = $3,
       updated_at = $5::timestamptz WHERE id = $1::int RETURNING ${TOKEN.of()}`,
    [id, hash, prefix, previousUntil, now],
  );
  return row!;
}

/** Inserts the operator's own token, or activates the row with its hash and removes the expiry. */
export async function upsertActiveToken(db: Db, token: Omit<NewToken, 'scopes' | 'allowedAddresses'>): Promise<ApiToken> {
  const [row] = await db.sql<ApiToken>(
    `INSERT INTO web_api_tokens (name, description, token_hash, token_prefix, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6::timestamptz, $6::timestamptz)
     ON CONFLICT (token_hash) DO UPDATE SET name = EXCLUDED.name, is_active = true, expires_at = NULL,
       updated_at = EXCLUDED.updated_at
     RETURNING ${TOKEN.of()}`,
    [token.name, token.description, token.hash, token.prefix, token.createdBy, token.now],
  );
  return row!;
}

/** One transaction at a time decides which token is the default one. */
export async function lockDefaultToken(db: Db): Promise<void> {
  await db.sql("SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtext('default_token'))");
}

/** Switches a token off if `createdBy` made it. @returns its hash, null when nothing changed */
export async function retireToken(db: Db, id: number, createdBy: string, now: Date): Promise<string | null> {
  const [row] = await db.sql<{ tokenHash: string }>(
    `UPDATE web_api_tokens SET is_active = false, updated_at = $3::timestamptz
     WHERE id = $1::bigint AND created_by = $2 AND is_active RETURNING token_hash`,
    [id, createdBy, now],
  );
  return row?.tokenHash ?? null;
}

/** Locks a token before a change. @returns null when there is none */
export async function lockToken(db: Db, id: number): Promise<{ token: ApiToken; hashes: string[] } | null> {
  const [row] = await db.sql<ApiToken & { tokenHash: string; previousHash: string | null }>(
    `SELECT ${TOKEN.of()}, previous_hash, token_hash FROM web_api_tokens WHERE id = $1::bigint FOR UPDATE`,
    [id],
  );
  if (!row) return null;
  const { tokenHash, previousHash, ...token } = row;
  return { token, hashes: previousHash === null ? [tokenHash] : [tokenHash, previousHash] };
}

export async function setTokenActive(db: Db, id: number, isActive: boolean, now: Date): Promise<ApiToken> {
  const [row] = await db.sql<ApiToken>(
    `UPDATE web_api_tokens SET is_active = $2, updated_at = $3::timestamptz WHERE id = $1 RETURNING ${TOKEN.of()}`,
    [id, isActive, now],
  );
  return row!;
}

export async function deleteToken(db: Db, id: number): Promise<void> {
  await db.prisma.apiToken.delete({ where: { id }, select: { id: true } });
}

export async function rehashToken(db: Db, id: number, hash: string): Promise<void> {
  await db.prisma.apiToken.updateMany({ where: { id }, data: { tokenHash: hash } });
}

/** Records a use, at most once a minute. */
export async function touchToken(db: Db, id: number, ip: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE web_api_tokens SET last_used_at = $2::timestamptz, last_used_ip = $3
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute') RETURNING id`,
    [id, now, ip],
  );
}

export function countTokens(db: Db): Promise<number> {
  return db.prisma.apiToken.count();
}
