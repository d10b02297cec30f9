/** Texts of fields of branding and of the styles of menu buttons (spec 05 sections 8 and 14). */
const COLOR = '`#` and 3 or 6 hexadecimal digits';
const LOOK = 'Style of the button of the section';

const COLORS: Readonly<Record<string, string>> = {
  accent: 'Accent',
  darkBackground: 'Background of the dark theme',
  darkSurface: 'Surfaces of the dark theme',
  darkText: 'Text of the dark theme',
  darkTextSecondary: 'Secondary text of the dark theme',
  lightBackground: 'Background of the light theme',
  lightSurface: 'Surfaces of the light theme',
  lightText: 'Text of the light theme',
  lightTextSecondary: 'Secondary text of the light theme',
  success: 'Success',
  warning: 'Warnings',
  error: 'Errors',
};

const colorTexts = Object.entries(COLORS).flatMap(([field, text]) => [
  [`ThemeColorsResponse.${field}`, `${text}: ${COLOR}.`],
  [`ThemeColorsUpdate.${field}`, `${text}: ${COLOR}; null leaves it unchanged.`],
]);

const SECTIONS: Readonly<Record<string, string>> = {
  home: 'start page',
  subscription: 'subscription',
  balance: 'balance',
  referral: 'referrals',
  support: 'support',
  info: 'information',
  admin: 'administration',
};

const sectionTexts = Object.entries(SECTIONS).flatMap(([field, text]) => [
  [`ButtonStylesResponse.${field}`, `${LOOK} “${text}”.`],
  [`ButtonStylesUpdate.${field}`, `${LOOK} “${text}”; null leaves it unchanged.`],
]);

export const BRANDING_FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...colorTexts, ...sectionTexts]),
  'BrandingResponse.name': 'Name of the cabinet, up to 50 characters; may be empty.',
  logo_url: 'Path of the logo, always the same; null while there is none.',
  logo_letter: 'Letter that is shown without a logo: the first of the name in capitals, `V` without a name.',
  has_custom_logo: 'Whether a logo is stored.',
  'BrandingNameUpdate.name': 'New name, up to 50 characters after trimming; may be empty.',
  'POST /cabinet/branding/logo.file': 'The image: PNG, JPEG, WebP or SVG, up to 5 MB.',
  'EnabledThemesResponse.dark': 'Whether the dark theme can be chosen.',
  'EnabledThemesResponse.light': 'Whether the light theme can be chosen.',
  'EnabledThemesUpdate.dark': 'Whether the dark theme can be chosen; null leaves it unchanged.',
  'EnabledThemesUpdate.light': 'Whether the light theme can be chosen; null leaves it unchanged.',
  'AnimationConfigResponse.type': 'Name of the animation.',
  'AnimationConfigResponse.settings': 'Parameters of the animation by name; only the front end knows them.',
  'AnimationConfigResponse.opacity': 'Opacity, 0 to 1.',
  'AnimationConfigResponse.blur': 'Blur in pixels, 0 to 100.',
  'AnimationConfigResponse.reducedOnMobile': 'Whether telephones show less of it.',
  'AnimationConfigUpdate.enabled': 'Whether it is shown; null leaves it unchanged.',
  'AnimationConfigUpdate.type': 'Name of the animation; null leaves it unchanged.',
  'AnimationConfigUpdate.settings':
    'All parameters of the animation: up to 20, names up to 50 characters, values numbers, booleans, null or texts up to 200 characters; null leaves them unchanged.',
  'AnimationConfigUpdate.opacity': 'Opacity, 0 to 1; null leaves it unchanged.',
  'AnimationConfigUpdate.blur': 'Blur in pixels, 0 to 100; null leaves it unchanged.',
  'AnimationConfigUpdate.reducedOnMobile': 'Whether telephones show less of it; null leaves it unchanged.',
  verification_enabled: 'Whether new addresses must be confirmed before the first sign-in.',
  'MessengerWidgetConfigResponse.bot_username': 'Name of the bot without `@`; empty while it is not known.',
  'MessengerWidgetConfigResponse.size': 'Size of the button.',
  radius: 'Radius of the corners in pixels.',
  userpic: 'Whether the picture of the user is shown.',
  request_access: 'Whether the bot asks for the permission to write to the user.',
  oidc_enabled: 'Whether sign-in by OpenID Connect is offered; never without a client id.',
  oidc_client_id: 'Client id at the messenger; empty while `oidc_enabled` is false.',
  'AnalyticsCountersResponse.yandex_metrika_id': 'Number of the counter of Yandex Metrika; empty for none.',
  'AnalyticsCountersResponse.google_ads_id': 'Conversion id of Google Ads, `AW-…`; empty for none.',
  'AnalyticsCountersResponse.google_ads_label': 'Conversion label of Google Ads; empty for none.',
  'AnalyticsCountersUpdate.yandex_metrika_id': 'Up to 20 digits; empty clears it, null leaves it unchanged.',
  'AnalyticsCountersUpdate.google_ads_id':
    '`AW-` and up to 40 letters, digits and hyphens; empty clears it, null leaves it unchanged.',
  'AnalyticsCountersUpdate.google_ads_label':
    'Up to 100 letters, digits, hyphens and underscores; empty clears it, null leaves it unchanged.',
  'ButtonSectionUpdate.style': 'Colour of the button: `primary`, `success`, `danger` or `default`; null leaves it unchanged.',
  'ButtonSectionUpdate.icon_custom_emoji_id': 'Id of a custom emoji of the messenger; empty for none, null leaves it unchanged.',
  'ButtonSectionUpdate.enabled': 'Whether the button is shown; null leaves it unchanged.',
  'ButtonSectionUpdate.labels':
    'All texts by language (`ru`, `en`, `ua`, `zh`, `fa`), up to 100 characters each; an empty text or map stands for the default, null leaves them unchanged.',
};
