import type { App } from '../../core/app.ts';
import { requireUser } from '../identity/require-user.ts';
import { type TextKey, text } from '../messaging/texts.ts';
import { type MethodDefaults, methodDefaults } from './method-defaults.ts';
import { listMethodsOfUser, type UserMethod } from './method-repo.ts';
import { isMethodConfigured, methodLimits, methodName, methodOptions, optionName, providerOf } from './method-settings.ts';
import type { ProviderLimit } from './ports.ts';
import { isClosed, knownLimits, withinProviderLimits } from './provider-limits.ts';
import type { MethodOption, OfferedMethod } from './types.ts';

export interface ListMethodsOptions {
  /** The filter by first top-up counts for the balance page only, not for gifts (spec 03 section 5.1). */
  ignoreFirstTopupFilter?: boolean;
}

/**
 * The methods that a user may pay with now: enabled, configured and admitted by all filters, with the administrators' overrides merged
 * into the defaults (spec 03 section 5.1). @throws AppError 404 'User not found'
 */
export async function listPaymentMethodsFor(
  app: App,
  userId: number,
  options: ListMethodsOptions = {},
): Promise<OfferedMethod[]> {
  const user = await requireUser(app, userId);
  const rows = await listMethodsOfUser(app.db, userId, !options.ignoreFirstTopupFilter);
  const offers = rows.map(async (row) => {
    const method = methodDefaults(row.methodId);
    if (!method || !isMethodConfigured(app, method)) return null;
    return offer(app, method, row, user.language, await knownLimits(app, providerOf(app, method)));
  });
  return (await Promise.all(offers)).filter((offered) => offered !== null);
}

/** @param known what the provider itself says of its ways to pay @returns null when the only way of the method is closed there */
function offer(
  app: App,
  method: MethodDefaults,
  row: UserMethod,
  language: string,
  known: readonly ProviderLimit[],
): OfferedMethod | null {
  if (method.fixedOption && isClosed(method.fixedOption, known)) return null;
  const defaults = methodLimits(app, method);
  const configured = {
    minKopeks: row.minAmountKopeks ?? defaults.minKopeks,
    maxKopeks: Math.min(row.maxAmountKopeks ?? defaults.maxKopeks, method.providerMax ?? Number.POSITIVE_INFINITY),
  };
  const available = methodOptions(app, method).filter((option) => !isClosed(option, known));
  const options = describeOptions(app, language, method, available, row.subOptions);
  const ways = method.fixedOption ? [method.fixedOption] : (options?.map(({ id }) => id) ?? available);
  const limits = withinProviderLimits(configured, ways, known);
  return {
    id: method.id,
    name: row.displayName ?? methodName(app, method.id),
    ...{ minAmountKopeks: limits.minKopeks, maxAmountKopeks: limits.maxKopeks, options },
  };
}

/** Options that are not switched off; a method without any stored choice shows none (spec 03 section 5.1). */
function describeOptions(
  app: App,
  language: string,
  method: MethodDefaults,
  available: readonly string[],
  chosen: UserMethod['subOptions'],
): MethodOption[] | null {
  if (chosen === null || available.length === 0) return null;
  const shown = available.filter((option) => chosen[option] !== false);
  if (shown.length === 0) return null;
  return shown.map((id) => {
    const name = optionName(app, language, method.id, id);
    return {
      id,
      name,
      description: method.id === 'platega' ? name : text(language, `payments.option_${id}_description` as TextKey),
    };
  });
}
