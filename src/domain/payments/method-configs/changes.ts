import type { Changes } from '../../../core/changes.ts';
import { ValidationError } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import type { ConfigValues, MethodConfig } from './config-repo.ts';

const MAX_NAME_LENGTH = 255;

/** What a request may change; null and absent leave a field as it is. Amounts are kopeks. */
export interface MethodChanges extends Changes<ConfigValues> {
  /** Replaces the groups; unknown ids are left out. */
  allowedPromoGroupIds?: readonly number[] | null | undefined;
  /** The reset fields put the default back and have priority over a value. */
  resetDisplayName?: boolean;
  resetMinAmount?: boolean;
  resetMaxAmount?: boolean;
}

/** The configuration after a change (spec 03 section 5.1). A blank name is no name, and an empty map of sub-options changes nothing. */
export function applyChanges(config: MethodConfig, changes: MethodChanges): ConfigValues {
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
export function checkChanges(
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
