import type { Db } from '../../core/db/db.ts';
import type { ApiToken } from './types.ts';

interface TokenRow {
  id: number;
  name: string;
  tokenPrefix: string;
  description: string | null;
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
  createdBy: string | null;
}

const COLUMNS =
  'id, name, token_prefix, description, is_active, created_at, updated_at, expires_at, last_used_at, last_used_ip, created_by';

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    prefix: row.tokenPrefix,
    description: row.description,
    isActive: row.isActive,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    lastUsedIp: row.lastUsedIp,
    createdBy: row.createdBy,
  };
}

export async function listTokens(db: Db): Promise<ApiToken[]> {
  const rows = await db.sql<TokenRow>(`SELECT ${COLUMNS} FROM web_api_tokens ORDER BY created_at DESC, id DESC LIMIT 1000`);
  return rows.map(toToken);
}

export async function findTokenByHash(db: Db, hash: string): Promise<ApiToken | null> {
  const [row] = await db.sql<TokenRow>(`SELECT ${COLUMNS} FROM web_api_tokens WHERE token_hash = $1`, [hash]);
  return row ? toToken(row) : null;
}

export interface NewToken {
  name: string;
  description: string | null;
  hash: string;
  prefix: string;
  expiresAt: Date | null;
  createdBy: string | null;
  now: Date;
}

export async function insertToken(db: Db, token: NewToken): Promise<ApiToken> {
  const [row] = await db.sql<TokenRow>(
    `INSERT INTO web_api_tokens (name, description, token_hash, token_prefix, expires_at, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5::timestamptz, $6, $7::timestamptz, $7::timestamptz) RETURNING ${COLUMNS}`,
    [token.name, token.description, token.hash, token.prefix, token.expiresAt, token.createdBy, token.now],
  );
  return toToken(row!);
}

/** Inserts the operator's own token, or wakes the row that has its hash: active, and without an end. */
export async function upsertActiveToken(db: Db, token: NewToken): Promise<ApiToken> {
  const [row] = await db.sql<TokenRow>(
    `INSERT INTO web_api_tokens (name, description, token_hash, token_prefix, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6::timestamptz, $6::timestamptz)
     ON CONFLICT (token_hash) DO UPDATE SET name = EXCLUDED.name, is_active = true, expires_at = NULL,
       updated_at = EXCLUDED.updated_at
     RETURNING ${COLUMNS}`,
    [token.name, token.description, token.hash, token.prefix, token.createdBy, token.now],
  );
  return toToken(row!);
}

/** Until the transaction ends nobody else decides which token is the default one. */
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

/** The token as it is before a change; nobody else changes it until the transaction ends. Null = there is none. */
export async function lockToken(db: Db, id: number): Promise<{ token: ApiToken; hash: string } | null> {
  const [row] = await db.sql<TokenRow & { tokenHash: string }>(
    `SELECT ${COLUMNS}, token_hash FROM web_api_tokens WHERE id = $1::bigint FOR UPDATE`,
    [id],
  );
  return row ? { token: toToken(row), hash: row.tokenHash } : null;
}

export async function setTokenActive(db: Db, id: number, isActive: boolean, now: Date): Promise<ApiToken> {
  const [row] = await db.sql<TokenRow>(
    `UPDATE web_api_tokens SET is_active = $2, updated_at = $3::timestamptz WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, isActive, now],
  );
  return toToken(row!);
}

export async function deleteToken(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM web_api_tokens WHERE id = $1 RETURNING id', [id]);
}

export async function rehashToken(db: Db, id: number, hash: string): Promise<void> {
  await db.sql('UPDATE web_api_tokens SET token_hash = $2 WHERE id = $1 RETURNING id', [id, hash]);
}

/** Notes a use, at most once a minute. */
export async function touchToken(db: Db, id: number, ip: string | null, now: Date): Promise<void> {
  await db.sql(
    `UPDATE web_api_tokens SET last_used_at = $2::timestamptz, last_used_ip = $3
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz - interval '1 minute') RETURNING id`,
    [id, now, ip],
  );
}

export async function countTokens(db: Db): Promise<number> {
  const [row] = await db.sql<{ total: number }>('SELECT count(*)::int AS total FROM web_api_tokens');
  return row!.total;
}
