/**
 * Where a text of an answer or a request is an identifier, and which identifiers change there (spec 09 section 4). A text at any other
 * position is never changed. A position is the name of a property, a query name or a parameter of a path; with `paths`, only in the
 * operations of these.
 */

export interface IdentifierPosition {
  names: readonly string[];
  /** `templates`: a text for people, in which names in braces change. */
  values: ValueKind | 'templates';
  paths?: RegExp;
}

/** Kinds of identifiers with a word of ours. */
export type ValueKind = keyof typeof FIXED_VALUES | 'permissions' | 'settings';

export const FIXED_VALUES = {
  accounts: ['messenger', 'vpnpanel'],
  /** Also with a suffix, see `SUFFIXED`. */
  methods: ['messenger_stars', 'messenger'],
  codes: [
    ...['vpnpanel_unavailable', 'vpnpanel_error', 'messenger_id_missing', 'messenger_already_linked', 'messenger_just_linked'],
    ...['other_messenger_account', 'messenger_unresolvable', 'messenger_unavailable', 'no_messenger_id'],
  ],
  audiences: ['messenger', 'messenger_with_email'],
  placeholders: ['messenger_id', '{messenger_id}'],
  sorts: ['messenger_id'],
} satisfies Record<string, readonly string[]>;

/** Fields that no schema names: of details in logs and of the application configuration. */
export const FREE_FIELDS: readonly string[] = ['initiator_messenger_id', 'target_messenger_id', 'isVpnpanel', '_isVpnpanel'];

/** Names in the braces of templates, as the import finds them (spec 07 section 3): one as it is, the others by their beginning. */
export const TEMPLATE_NAME = 'messenger_id';
export const TEMPLATE_BEGINNING = 'vpnpanel_';

/** Values that may be followed by `_` and an option of the payment method. */
export const SUFFIXED: readonly string[] = ['messenger_stars'];

/** The settings of the service, not those of the ban system. */
export const SETTINGS_PATH = /^\/(?:cabinet\/admin\/)?settings(?:\/|$)/;
const SENDS_PATH = /\/(?:broadcasts|promo-offers|polls|pinned-messages)(?:\/|$)/;

export const IDENTIFIER_POSITIONS: readonly IdentifierPosition[] = [
  {
    names: [
      ...['auth_type', 'auth_methods', 'sandbox', 'contact_type', 'gift_recipient_type', 'recipient_type', 'user_type_filter'],
      'channel',
    ],
    values: 'accounts',
  },
  {
    names: ['payment_type', 'payment_method', 'method', 'method_id', 'method_ids', 'methods', 'method_filter', 'provider'],
    values: 'methods',
  },
  { names: ['id'], values: 'methods', paths: /payment|gift|landing|balance/ },
  { names: ['permissions', 'permission', 'section', 'resource', 'actions', 'scopes', 'scope'], values: 'permissions' },
  { names: ['key', 'depends_on', 'category', 'category_key'], values: 'settings', paths: SETTINGS_PATH },
  { names: ['sort_by', 'sort'], values: 'sorts' },
  { names: ['target', 'filter', 'audience', 'key'], values: 'audiences', paths: SENDS_PATH },
  { names: ['variables', 'placeholders', 'context_vars'], values: 'placeholders' },
  {
    names: ['subject', 'body_html', 'default_subject', 'default_body_html'],
    values: 'templates',
    paths: /^\/cabinet\/admin\/email-templates(?:\/|$)/,
  },
  { names: ['code'], values: 'codes', paths: /^\/miniapp\// },
  { names: ['warning', 'gift_warning'], values: 'codes' },
];

/** Those of refusals besides: their codes. */
export const REFUSAL_POSITIONS: readonly IdentifierPosition[] = [{ names: ['code', 'detail', 'error'], values: 'codes' }];

/** Those that do not depend on the operation. */
export const generalPositions = IDENTIFIER_POSITIONS.filter(({ paths }) => paths === undefined);
