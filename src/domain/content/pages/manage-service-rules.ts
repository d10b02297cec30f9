import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { text } from '../../messaging/texts.ts';
import { pageLanguages } from './page-languages.ts';
import { forgetRules } from './published-pages.ts';
import {
  deactivateRules,
  findActiveRules,
  findRuleVersion,
  insertRules,
  listRuleVersions,
  lockRules,
} from './service-rules-repo.ts';
import { DEFAULT_RULES_TITLE, MAX_PAGE_CONTENT, type ServiceRule } from './types.ts';

export const serviceRulesNotFound = refusal('service_rules_not_found', 404, 'Service rules not found');
export const rulesVersionNotFound = refusal('rules_version_not_found', 404, 'Rules version not found');

/** The active version as it is stored. @throws AppError 404 'Service rules not found' */
export async function readRules(app: App, query: { language: string; fallback: boolean }): Promise<ServiceRule> {
  const { requested, fallback } = pageLanguages(app, query.language);
  const candidates = query.fallback ? [requested, fallback] : [requested];
  const found = await findActiveRules(app.db, candidates);
  const [rules] = candidates.flatMap((language) => found.filter((one) => one.language === language));
  if (!rules) throw serviceRulesNotFound();
  return rules;
}

export interface RulesDraft {
  language: string;
  title?: string | null | undefined;
  /** As sent; up to 200,000 characters. */
  content: string;
}

/** Adds a version and makes it the active one of its language. @throws ValidationError 422 content too long */
export async function writeRules(app: App, draft: RulesDraft): Promise<ServiceRule> {
  const { content } = draft;
  checkBounds([{ name: 'content', value: content, maxLength: MAX_PAGE_CONTENT }]);
  const { requested: language } = pageLanguages(app, draft.language);
  return activate(app, { language, title: titleOf(draft.title, language), content });
}

/** Rules that were sent without a title have that of their language (spec 10 R5); the contract's default is the Russian one. */
function titleOf(title: string | null | undefined, language: string): string {
  return title == null || title === DEFAULT_RULES_TITLE ? text(language, 'pages.rules_title') : title;
}

/** Deactivates the rules of a language; the versions stay and can be restored. */
export async function deleteRules(app: App, language: string): Promise<void> {
  const { requested } = pageLanguages(app, language);
  await inTransaction(app, async (t) => {
    await lockRules(t.db, requested);
    const before = await deactivateRules(t.db, requested, t.clock.now());
    await forgetRules(t);
    t.audit?.record({ resourceId: before?.id ?? requested, before, after: null });
  });
}

/** Versions of a language, the active one too, newest first. */
export async function listRulesHistory(
  app: App,
  query: { language: string; limit: number },
): Promise<{ language: string; items: ServiceRule[] }> {
  const { requested } = pageLanguages(app, query.language);
  return { language: requested, items: await listRuleVersions(app.db, requested, query.limit) };
}

/** Makes a copy of a version the active one of its language. @throws AppError 404 'Rules version not found' */
export async function restoreRules(app: App, id: number, language: string): Promise<ServiceRule> {
  const { requested } = pageLanguages(app, language);
  // A version never changes, so it is read before the lock.
  const version = await findRuleVersion(app.db, id, requested);
  if (!version) throw rulesVersionNotFound();
  return activate(app, version);
}

function activate(app: App, rules: Pick<ServiceRule, 'language' | 'title' | 'content'>): Promise<ServiceRule> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    await lockRules(t.db, rules.language);
    const before = await deactivateRules(t.db, rules.language, now);
    const active = await insertRules(t.db, rules, now);
    await forgetRules(t);
    t.audit?.record({ resourceId: active.id, before, after: active });
    return active;
  });
}
