import { allColumns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { TextList, TextPage, WelcomeText } from './types.ts';

const WELCOME = allColumns('WelcomeText');

/** Last changed first. */
export async function listTexts(db: Db, page: TextPage & { includeInactive: boolean }): Promise<TextList<WelcomeText>> {
  const [items, total] = await Promise.all([
    db.sql<WelcomeText>(
      `SELECT ${WELCOME.of()} FROM welcome_texts WHERE is_active OR $3::boolean
       ORDER BY updated_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
      [page.limit, page.offset, page.includeInactive],
    ),
    db.prisma.welcomeText.count({ where: page.includeInactive ? {} : { isActive: true } }),
  ]);
  return { items, total };
}

export async function findText(db: Db, id: number): Promise<WelcomeText | null> {
  const [row] = await db.sql<WelcomeText>(`SELECT ${WELCOME.of()} FROM welcome_texts WHERE id = $1::bigint`, [id]);
  return row ?? null;
}

/**
 * Activations run one after another. The old text is deactivated and another row becomes the active one, and a second transaction would
 * not see the row that the first has added.
 */
export async function lockActivation(db: Db): Promise<void> {
  await db.sql("SELECT pg_advisory_xact_lock(hashtext('content.welcome_texts'))::text AS locked");
}

/** The text, locked until the transaction ends. */
export async function lockText(db: Db, id: number): Promise<WelcomeText | null> {
  const [row] = await db.sql<WelcomeText>(`SELECT ${WELCOME.of()} FROM welcome_texts WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

/** Deactivates the active text unless it is this one. Its `updated_at` stays: it says when somebody edited the text. */
export async function deactivateOthers(db: Db, id: number | null): Promise<void> {
  await db.sql('UPDATE welcome_texts SET is_active = false WHERE is_active AND id IS DISTINCT FROM $1::int RETURNING id', [id]);
}

export async function insertText(
  db: Db,
  values: Pick<WelcomeText, 'text' | 'isActive' | 'isEnabled'>,
  now: Date,
): Promise<WelcomeText> {
  return db.prisma.welcomeText.create({ data: { ...values, createdBy: null, createdAt: now, updatedAt: now } });
}

export async function updateTextRow(db: Db, { id, ...values }: WelcomeText): Promise<void> {
  await db.prisma.welcomeText.update({ where: { id }, data: values, select: { id: true } });
}

/** @returns what it was; null when there is no such text */
export async function deleteTextRow(db: Db, id: number): Promise<WelcomeText | null> {
  const [row] = await db.sql<WelcomeText>(`DELETE FROM welcome_texts WHERE id = $1::bigint RETURNING ${WELCOME.of()}`, [id]);
  return row ?? null;
}
