import { allColumns } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { MainMenuButton, TextList, TextPage, UserMessage, WelcomeText } from './types.ts';

const BUTTON = allColumns('MainMenuButton');
const MAX_ORDER = 2_147_483_647;

export type ButtonValues = Omit<MainMenuButton, 'id' | 'createdAt' | 'updatedAt'>;

/** Active and inactive buttons in the order in which they are shown. */
export async function listButtons(db: Db, { limit, offset }: TextPage): Promise<TextList<MainMenuButton>> {
  const [items, total] = await Promise.all([
    db.sql<MainMenuButton>(
      `SELECT ${BUTTON.of()} FROM main_menu_buttons ORDER BY display_order, id LIMIT $1::int OFFSET $2::bigint`,
      [limit, offset],
    ),
    db.prisma.mainMenuButton.count(),
  ]);
  return { items, total };
}

/** @param button without `displayOrder`: after the last one */
export async function insertButton(
  db: Db,
  button: Omit<ButtonValues, 'displayOrder'> & { displayOrder: number | null },
  now: Date,
): Promise<MainMenuButton> {
  const { text, actionType, actionValue, visibility, isActive, displayOrder } = button;
  const [row] = await db.sql<MainMenuButton>(
    `INSERT INTO main_menu_buttons (text, action_type, action_value, visibility, is_active, display_order, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5::boolean, COALESCE($6::int, (SELECT LEAST(COALESCE(max(display_order), 0)::bigint + 1, ${MAX_ORDER})
       FROM main_menu_buttons)), $7::timestamptz, $7::timestamptz
     RETURNING ${BUTTON.of()}`,
    [text, actionType, actionValue, visibility, isActive, displayOrder, now],
  );
  return row!;
}

/** The button, locked until the transaction ends. */
export async function lockButton(db: Db, id: number): Promise<MainMenuButton | null> {
  const [row] = await db.sql<MainMenuButton>(`SELECT ${BUTTON.of()} FROM main_menu_buttons WHERE id = $1::bigint FOR UPDATE`, [
    id,
  ]);
  return row ?? null;
}

export async function updateButtonRow(db: Db, { id, ...button }: MainMenuButton): Promise<void> {
  await db.prisma.mainMenuButton.update({ where: { id }, data: button, select: { id: true } });
}

/** @returns what it was; null when there is no such button */
export async function deleteButtonRow(db: Db, id: number): Promise<MainMenuButton | null> {
  const [row] = await db.sql<MainMenuButton>(`DELETE FROM main_menu_buttons WHERE id = $1::bigint RETURNING ${BUTTON.of()}`, [
    id,
  ]);
  return row ?? null;
}

const MESSAGE = allColumns('UserMessage');

/** Newest first. */
export async function listMessages(db: Db, page: TextPage & { includeInactive: boolean }): Promise<TextList<UserMessage>> {
  const [items, total] = await Promise.all([
    db.sql<UserMessage>(
      `SELECT ${MESSAGE.of()} FROM user_messages WHERE is_active OR $3::boolean
       ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`,
      [page.limit, page.offset, page.includeInactive],
    ),
    db.prisma.userMessage.count({ where: page.includeInactive ? {} : { isActive: true } }),
  ]);
  return { items, total };
}

export async function insertMessage(
  db: Db,
  message: Pick<UserMessage, 'messageText' | 'isActive' | 'sortOrder'>,
  now: Date,
): Promise<UserMessage> {
  return db.prisma.userMessage.create({ data: { ...message, createdBy: null, createdAt: now, updatedAt: now } });
}

/** The message, locked until the transaction ends. */
export async function lockMessage(db: Db, id: number): Promise<UserMessage | null> {
  const [row] = await db.sql<UserMessage>(`SELECT ${MESSAGE.of()} FROM user_messages WHERE id = $1::bigint FOR UPDATE`, [id]);
  return row ?? null;
}

export async function updateMessageRow(db: Db, { id, ...message }: UserMessage): Promise<void> {
  await db.prisma.userMessage.update({ where: { id }, data: message, select: { id: true } });
}

/** @returns what it was; null when there is no such message */
export async function deleteMessageRow(db: Db, id: number): Promise<UserMessage | null> {
  const [row] = await db.sql<UserMessage>(`DELETE FROM user_messages WHERE id = $1::bigint RETURNING ${MESSAGE.of()}`, [id]);
  return row ?? null;
}

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
