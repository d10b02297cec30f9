import type { CategoryKey } from './categories.ts';

export type SettingType = 'bool' | 'int' | 'float' | 'str';

/** Shapes of text that must hold on write and at start (spec 06 section 6.2 and section 17, hazard 13); checked by `check-format.ts`. */
export type SettingFormat =
  | 'email'
  | 'hash-algorithm'
  | 'http-url'
  | 'int-list'
  | 'link'
  | 'network-list'
  | 'panel-tag'
  | 'period-discounts'
  | 'route-path'
  | 'socks-url'
  | 'time'
  | 'time-list'
  | 'time-zone'
  | 'topup-packages'
  | 'traffic-packages'
  | 'uuid';

/** Everything the service knows about one setting; the catalogue is the only place that says it. */
export interface SettingDefinition {
  readonly type: SettingType;
  /** Null may be stored and sent. */
  readonly optional?: true;
  /** Effective value when neither the environment nor an override gives one. */
  readonly default: string | number | boolean | null;
  readonly category: CategoryKey;
  readonly choices?: readonly (string | number)[];
  /** Other spellings of a choice, in lower case; they are stored as the choice they mean. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Lowest and highest number, both included. Whole numbers without bounds stay within 32 bits. */
  readonly min?: number;
  readonly max?: number;
  readonly format?: SettingFormat;
  /** Fewest characters of a non-empty text. */
  readonly minLength?: number;
  /** Names that may stand in braces in this text; any other brace would break the message. */
  readonly placeholders?: readonly string[];
  /** The default is wording of ours; the contract leaves it open. */
  readonly localised?: true;
  /** Never leaves the service in clear (spec 06 section 6.4). */
  readonly secret?: true;
  /**
   * Who may write it over HTTP, because the value itself gives power (spec 06 section 17, hazard 1). `superadmin` = only a superadmin: whoever
   * knows or chooses the value can become somebody else, an administrator for example. `full-access` = a superadmin or the holder of a
   * Web API token, who can move money and access anyway: the value decides where stored keys, customers' money or links that sign
   * people in go, or which callbacks of providers and the panel are believed.
   */
  readonly guard?: 'superadmin' | 'full-access';
  /** Shown, but written by the service only. */
  readonly readOnly?: true;
  /** Given by the environment only and unknown to every endpoint: 404. */
  readonly excluded?: true;
}
