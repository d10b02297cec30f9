/** The text of each operation: what it does, what it changes outside, idempotency. The key is `METHOD /path`. */
import { mergeTexts } from './merge-texts.ts';
import { ADMIN_CATALOG } from './operations/admin-catalog.ts';
import { ADMIN_OPERATIONS } from './operations/admin-operations.ts';
import { ADMIN_STATISTICS } from './operations/admin-statistics.ts';
import { ADMIN_USERS } from './operations/admin-users.ts';
import { BACKUP_OPERATIONS } from './operations/backups.ts';
import { BAN_SYSTEM_OPERATIONS } from './operations/ban-system.ts';
import { BRANDING_OPERATIONS } from './operations/branding.ts';
import { CABINET_IDENTITY } from './operations/cabinet-identity.ts';
import { CABINET_MONEY } from './operations/cabinet-money.ts';
import { CABINET_OTHER } from './operations/cabinet-other.ts';
import { CABINET_SUBSCRIPTION } from './operations/cabinet-subscription.ts';
import { MINIAPP } from './operations/miniapp.ts';
import { PAGES } from './operations/pages.ts';
import { PANEL } from './operations/panel.ts';
import { PINNED_MESSAGE_OPERATIONS } from './operations/pinned-messages.ts';
import { WEB_CONTENT } from './operations/web-content.ts';
import { WEB_CORE } from './operations/web-core.ts';
import { WEB_GROWTH } from './operations/web-growth.ts';
import { WEB_LOGS } from './operations/web-logs.ts';

export const OPERATION_DESCRIPTIONS = mergeTexts([
  WEB_CORE,
  WEB_GROWTH,
  WEB_CONTENT,
  WEB_LOGS,
  PAGES,
  PINNED_MESSAGE_OPERATIONS,
  PANEL,
  CABINET_IDENTITY,
  CABINET_MONEY,
  CABINET_SUBSCRIPTION,
  CABINET_OTHER,
  BACKUP_OPERATIONS,
  BRANDING_OPERATIONS,
  MINIAPP,
  ADMIN_USERS,
  ADMIN_CATALOG,
  ADMIN_OPERATIONS,
  BAN_SYSTEM_OPERATIONS,
  ADMIN_STATISTICS,
]);
