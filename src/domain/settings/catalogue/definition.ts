import type { CategoryKey } from './categories.ts';

type SettingType = 'bool' | 'int' | 'float' | 'str';

/** Formats of text, checked on write and at start (spec 06 section 6.2 and section 17, hazard 13) by `check-format.ts`. */
export type SettingFormat =
  | 'email'
  | 'hash-algorithm'
  | 'http-url'
  | 'int-list'
  | 'link'
  | 'log-file'
  | 'log-folder'
  | 'log-name'
  | 'network-list'
  | 'panel-tag'
  | 'period-discounts'
  | 'route-path'
  | 'proxy-url'
  | 'time'
  | 'time-list'
  | 'time-zone'
  | 'topup-packages'
  | 'traffic-packages'
  | 'uuid';

/** The definition of one setting; the catalogue is its only source. */
export interface SettingDefinition {
  readonly type: SettingType;
  /** Null may be stored and sent. */
  readonly optional?: true;
  /** Effective value when neither the environment nor an override sets one. */
  readonly default: string | number | boolean | null;
  readonly category: CategoryKey;
  readonly choices?: readonly (string | number)[];
  /** Other spellings of a choice, in lower case; they are stored as that choice. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Lowest and highest number, both included. Whole numbers without bounds stay within 32 bits. */
  readonly min?: number;
  readonly max?: number;
  readonly format?: SettingFormat;
  /** Minimum length of a non-empty text. */
  readonly minLength?: number;
  /** Placeholders that the text may contain in braces; any other brace would make the message fail. */
  readonly placeholders?: readonly string[];
  /** The default is a text of this service; the contract does not fix it. */
  readonly localised?: true;
  /** Always masked outside of the service. */
  readonly secret?: true;
  /**
   * Who may write it over HTTP, because the value itself grants access (spec 06 section 17, hazard 1). `superadmin` = only a superadmin:
   * knowing or choosing the value allows signing in as another user, an administrator for example. `full-access` = a superadmin or the
   * holder of a Web API token, who can change balances and access anyway: the value decides where stored keys, customers' money or sign-in
   * links are sent, or which callbacks of providers and the panel are accepted.
   */
  readonly guard?: 'superadmin' | 'full-access';
  /** Shown, but only the service writes it. */
  readonly readOnly?: true;
  /**
   * A stored override takes precedence over the environment, the reverse of all other settings: what an administrator sets with the branding
   * of the cabinet. One value is in effect everywhere, at sign-in as well as in the cabinet.
   */
  readonly storedFirst?: true;
  /** A number of the environment or of an old row that is beyond the bounds counts as the bound; a write of it is refused. */
  readonly clamped?: true;
  /** Set by the environment only; every endpoint answers 404. */
  readonly excluded?: true;
}
