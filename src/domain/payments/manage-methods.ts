import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { checkBounds } from '../../core/field-bounds.ts';
import { requireUser } from '../identity/find-user.ts';
import { text } from '../messaging/texts.ts';
import { listPromoGroups, lockExistingGroupIds } from '../promo-groups/find-groups.ts';
import {
  type ConfigValues,
  findConfig,
  listConfigs,
  lockConfig,
  type MethodConfig,
  reorderConfigs,
  replaceGroups,
  updateConfig,
} from './method-repo.ts';
import { isMethodConfigured, methodDefaults, methodLimits, methodName, methodOptions, optionName } from './payment-methods.ts';

/** A method as administrators see it: what is stored, and what applies where nothing is. Amounts are kopeks. */
export interface MethodConfigView extends MethodConfig {
  /** With a mark where no public document confirms the interface of the provider (03a section 11); users see it without one. */
  defaultDisplayName: string;
  defaultMinAmountKopeks: number;
  defaultMaxAmountKopeks: number;
  /** Null = the method has no sub-options. */
  availableSubOptions: { id: string; name: string }[] | null;
  /** Whether its provider is enabled and has its credentials now. */
  isProviderConfigured: boolean;
}

/** For a stored method that this installation does not know. */
const UNKNOWN_METHOD_LIMITS = { minKopeks: 1_000, maxKopeks: 10_000_000 };

/** All methods in their order. Names of sub-options are in the administrator's language. */
export async function listMethodConfigs(app: App, actor: AdminActor): Promise<MethodConfigView[]> {
  const { language } = await requireUser(app, actor.userId);
  return (await listConfigs(app.db)).map((config) => viewConfig(app, config, language));
}

/** @throws AppError 404 */
export async function readMethodConfig(app: App, actor: AdminActor, methodId: string): Promise<MethodConfigView> {
  const { language } = await requireUser(app, actor.userId);
  const config = await findConfig(app.db, methodId);
  if (!config) throw methodNotFound(methodId);
  return viewConfig(app, config, language);
}

/** Promo groups to choose from, highest priority first. */
export async function listMethodGroups(app: App): Promise<{ id: number; name: string }[]> {
  return (await listPromoGroups(app)).map(({ id, name }) => ({ id, name }));
}

/** Puts the methods into the given order; ids that are not stored are skipped, methods that are not named keep their place. */
export async function reorderMethods(app: App, _actor: AdminActor, methodIds: readonly string[]): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await listConfigs(t.db);
    await reorderConfigs(t.db, methodIds, t.clock.now());
    const after = await listConfigs(t.db);
    t.audit?.record({ before: { methodIds: before.map(idOf) }, after: { methodIds: after.map(idOf) } });
  });
}

/**
 * Changes a method; users' lists of methods follow at once, because nothing of it is cached.
 * @throws AppError 404; ValidationError 422 for a name that is too long, an unknown sub-option and a minimum above the maximum
 */
export async function changeMethod(
  app: App,
  actor: AdminActor,
  methodId: string,
  changes: MethodChanges,
): Promise<MethodConfigView> {
  await inTransaction(app, async (t) => {
    const before = await lockConfig(t.db, methodId);
    if (!before) throw methodNotFound(methodId);
    const options = optionsOf(t, methodId) ?? [];
    const values = applyChanges(before, changes);
    checkChanges(changes, values, { options, limits: limitsOf(t, methodId) });
    await updateConfig(t.db, methodId, values, t.clock.now());
    if (changes.allowedPromoGroupIds) {
      await replaceGroups(t.db, methodId, await lockExistingGroupIds(t.db, changes.allowedPromoGroupIds));
    }
    t.audit?.record({ before, after: await findConfig(t.db, methodId) });
  });
  return readMethodConfig(app, actor, methodId);
}

const idOf = ({ methodId }: MethodConfig) => methodId;
export const methodNotFound = refusal(
  'payment_method_not_found',
  404,
  'Payment method not found: paypal',
  (methodId: string) => ({
    detail: `Payment method not found: ${methodId}`,
  }),
);

function limitsOf(app: App, methodId: string) {
  const method = methodDefaults(methodId);
  return method ? methodLimits(app, method) : UNKNOWN_METHOD_LIMITS;
}

/** Null for a method without sub-options. */
function optionsOf(app: App, methodId: string): readonly string[] | null {
  const method = methodDefaults(methodId);
  const options = method ? methodOptions(app, method) : [];
  return options.length === 0 ? null : options;
}

function viewConfig(app: App, config: MethodConfig, language: string): MethodConfigView {
  const { methodId, subOptions } = config;
  const method = methodDefaults(methodId);
  const name = methodName(app, methodId);
  const options = optionsOf(app, methodId);
  const { minKopeks, maxKopeks } = limitsOf(app, methodId);
  return {
    ...config,
    // Those that can be sent back: an option that is not available now cannot be chosen.
    subOptions: subOptions && Object.fromEntries(Object.entries(subOptions).filter(([id]) => options?.includes(id))),
    defaultDisplayName: method?.isUnconfirmed ? text(language, 'payments.method_unconfirmed', { method: name }) : name,
    defaultMinAmountKopeks: minKopeks,
    defaultMaxAmountKopeks: maxKopeks,
    availableSubOptions: options?.map((id) => ({ id, name: optionName(app, language, methodId, id) })) ?? null,
    isProviderConfigured: method !== null && isMethodConfigured(app, method),
  };
}

const MAX_NAME_LENGTH = 255;

/** What a request may change; null and absent leave a field as it is. Amounts are kopeks. */
interface MethodChanges extends Changes<ConfigValues> {
  /** Replaces the groups; unknown ids are left out. */
  allowedPromoGroupIds?: readonly number[] | null | undefined;
  /** The reset fields put the default back and have priority over a value. */
  resetDisplayName?: boolean;
  resetMinAmount?: boolean;
  resetMaxAmount?: boolean;
}

/** The configuration after a change. A blank name is no name, and an empty map of sub-options changes nothing. */
function applyChanges(config: MethodConfig, changes: MethodChanges): ConfigValues {
  const { displayName, subOptions } = changes;
  const name = displayName == null ? config.displayName : displayName.trim() || null;
  return {
    isEnabled: changes.isEnabled ?? config.isEnabled,
    displayName: changes.resetDisplayName ? null : name,
    subOptions: subOptions && Object.keys(subOptions).length > 0 ? subOptions : config.subOptions,
    minAmountKopeks: changes.resetMinAmount ? null : (changes.minAmountKopeks ?? config.minAmountKopeks),
    maxAmountKopeks: changes.resetMaxAmount ? null : (changes.maxAmountKopeks ?? config.maxAmountKopeks),
    userTypeFilter: changes.userTypeFilter ?? config.userTypeFilter,
    firstTopupFilter: changes.firstTopupFilter ?? config.firstTopupFilter,
    promoGroupFilterMode: changes.promoGroupFilterMode ?? config.promoGroupFilterMode,
  };
}

/**
 * The rules that need the stored configuration. Limits are compared as users will see them: with the defaults where nothing is stored; only
 * when the request is about limits, since defaults may change afterwards.
 * @throws ValidationError 422
 */
function checkChanges(
  changes: MethodChanges,
  values: ConfigValues,
  method: { options: readonly string[]; limits: { minKopeks: number; maxKopeks: number } },
): void {
  checkBounds([{ name: 'display_name', value: values.displayName, maxLength: MAX_NAME_LENGTH }]);
  const unknown = Object.keys(changes.subOptions ?? {}).find((id) => !method.options.includes(id));
  if (unknown !== undefined) {
    throw invalid('sub_options', `Unknown sub-option: ${unknown}`, changes.subOptions);
  }
  const { minAmountKopeks, maxAmountKopeks, resetMinAmount, resetMaxAmount } = changes;
  const isAboutLimits = minAmountKopeks != null || maxAmountKopeks != null || resetMinAmount || resetMaxAmount;
  const min = values.minAmountKopeks ?? method.limits.minKopeks;
  const max = values.maxAmountKopeks ?? method.limits.maxKopeks;
  if (isAboutLimits && min > max) {
    const field = minAmountKopeks != null ? 'min_amount_kopeks' : 'max_amount_kopeks';
    throw invalid(
      field,
      `The minimum amount (${min}) must not be above the maximum amount (${max})`,
      changes.minAmountKopeks ?? null,
    );
  }
}

function invalid(field: string, msg: string, input: unknown): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg, input }]);
}
