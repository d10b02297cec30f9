import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { TemplateLanguage, TemplateType } from './template-variables.ts';

const TEMPLATE = columns('EmailTemplate', ['notificationType', 'language', 'subject', 'bodyHtml', 'isActive']);

/** A template of the administrators. */
export type StoredTemplate = RowOf<typeof TEMPLATE>;

/** Which templates are in force; there are at most a few for each type. */
export function listActiveTemplates(db: Db): Promise<Pick<StoredTemplate, 'notificationType' | 'language'>[]> {
  return db.prisma.emailTemplate.findMany({
    where: { isActive: true },
    select: { notificationType: true, language: true },
    orderBy: { id: 'asc' },
  });
}

/** The templates of one type that are in force. */
export function listTemplatesOf(db: Db, type: TemplateType): Promise<StoredTemplate[]> {
  return db.sql<StoredTemplate>(
    `SELECT ${TEMPLATE.of()} FROM email_templates WHERE notification_type = $1 AND is_active ORDER BY id`,
    [type],
  );
}

/** The stored template of a type and language, locked until the end of the transaction. */
export async function lockTemplate(db: Db, type: TemplateType, language: string): Promise<StoredTemplate | null> {
  const [row] = await db.sql<StoredTemplate>(
    `SELECT ${TEMPLATE.of()} FROM email_templates WHERE notification_type = $1 AND language = $2 FOR UPDATE`,
    [type, language],
  );
  return row ?? null;
}

/** Stores a template and puts it in force. */
export async function saveTemplate(
  db: Db,
  template: { type: TemplateType; language: TemplateLanguage; subject: string; bodyHtml: string },
  now: Date,
): Promise<StoredTemplate> {
  const { type, language, subject, bodyHtml } = template;
  const [row] = await db.sql<StoredTemplate>(
    `INSERT INTO email_templates (notification_type, language, subject, body_html, is_active, created_at, updated_at)
     VALUES ($1, $2, $3, $4, true, $5::timestamptz, $5::timestamptz)
     ON CONFLICT (notification_type, language) DO UPDATE
       SET subject = EXCLUDED.subject, body_html = EXCLUDED.body_html, is_active = true, updated_at = EXCLUDED.updated_at
     RETURNING ${TEMPLATE.of()}`,
    [type, language, subject, bodyHtml, now],
  );
  return row!;
}

/** @returns whether there was one */
export async function deleteTemplateRow(db: Db, type: TemplateType, language: string): Promise<boolean> {
  const { count } = await db.prisma.emailTemplate.deleteMany({ where: { notificationType: type, language } });
  return count > 0;
}
