import { z } from 'zod';
import { isUploadedFile, type UploadedFile } from '../../core/http/uploads.ts';
import { DEFAULT_COLORS, MAX_BLUR, MAX_OPACITY, settingsProblem } from '../../domain/content/branding/branding-values.ts';
import { ANIMATION_TYPES, type AnimationSettings } from '../../domain/content/branding/types.ts';

/** Contract group `Branding`. */

export const BrandingResponse = z
  .object({
    name: z.string().describe('Name of the cabinet, up to 50 characters; may be empty.'),
    logo_url: z.string().nullish().describe('Path of the logo, always the same; null while there is none.'),
    logo_letter: z
      .string()
      .describe('Letter that is shown without a logo: the first of the name in capitals, `V` without a name.'),
    has_custom_logo: z.boolean().describe('Whether a logo is stored.'),
  })
  .meta({ id: 'BrandingResponse' });

export const BrandingNameUpdate = z
  .object({ name: z.string().describe('New name, up to 50 characters after trimming; may be empty.') })
  .meta({ id: 'BrandingNameUpdate', example: { name: 'Example VPN' } });

export const BrandingLogoUpload = z.object({
  file: z
    .custom<UploadedFile>(isUploadedFile, 'Expected an uploaded file')
    .meta({ type: 'string', format: 'binary' })
    .describe('The image: PNG, JPEG, WebP or SVG, up to 5 MB.'),
});

export const ThemeColorsResponse = z
  .object({
    accent: z.string().default(DEFAULT_COLORS.accent).describe('Accent: `#` and 3 or 6 hexadecimal digits.'),
    darkBackground: z
      .string()
      .default(DEFAULT_COLORS.darkBackground)
      .describe('Background of the dark theme: `#` and 3 or 6 hexadecimal digits.'),
    darkSurface: z
      .string()
      .default(DEFAULT_COLORS.darkSurface)
      .describe('Surfaces of the dark theme: `#` and 3 or 6 hexadecimal digits.'),
    darkText: z.string().default(DEFAULT_COLORS.darkText).describe('Text of the dark theme: `#` and 3 or 6 hexadecimal digits.'),
    darkTextSecondary: z
      .string()
      .default(DEFAULT_COLORS.darkTextSecondary)
      .describe('Secondary text of the dark theme: `#` and 3 or 6 hexadecimal digits.'),
    lightBackground: z
      .string()
      .default(DEFAULT_COLORS.lightBackground)
      .describe('Background of the light theme: `#` and 3 or 6 hexadecimal digits.'),
    lightSurface: z
      .string()
      .default(DEFAULT_COLORS.lightSurface)
      .describe('Surfaces of the light theme: `#` and 3 or 6 hexadecimal digits.'),
    lightText: z
      .string()
      .default(DEFAULT_COLORS.lightText)
      .describe('Text of the light theme: `#` and 3 or 6 hexadecimal digits.'),
    lightTextSecondary: z
      .string()
      .default(DEFAULT_COLORS.lightTextSecondary)
      .describe('Secondary text of the light theme: `#` and 3 or 6 hexadecimal digits.'),
    success: z.string().default(DEFAULT_COLORS.success).describe('Success: `#` and 3 or 6 hexadecimal digits.'),
    warning: z.string().default(DEFAULT_COLORS.warning).describe('Warnings: `#` and 3 or 6 hexadecimal digits.'),
    error: z.string().default(DEFAULT_COLORS.error).describe('Errors: `#` and 3 or 6 hexadecimal digits.'),
  })
  .meta({ id: 'ThemeColorsResponse' });

export const ThemeColorsUpdate = z
  .object({
    accent: z.string().nullish().describe('Accent: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    darkBackground: z
      .string()
      .nullish()
      .describe('Background of the dark theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    darkSurface: z
      .string()
      .nullish()
      .describe('Surfaces of the dark theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    darkText: z
      .string()
      .nullish()
      .describe('Text of the dark theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    darkTextSecondary: z
      .string()
      .nullish()
      .describe('Secondary text of the dark theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    lightBackground: z
      .string()
      .nullish()
      .describe('Background of the light theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    lightSurface: z
      .string()
      .nullish()
      .describe('Surfaces of the light theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    lightText: z
      .string()
      .nullish()
      .describe('Text of the light theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    lightTextSecondary: z
      .string()
      .nullish()
      .describe('Secondary text of the light theme: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    success: z.string().nullish().describe('Success: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    warning: z.string().nullish().describe('Warnings: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
    error: z.string().nullish().describe('Errors: `#` and 3 or 6 hexadecimal digits; null leaves it unchanged.'),
  })
  .meta({ id: 'ThemeColorsUpdate', example: { accent: '#3b82f6', darkBackground: '#0f172a', lightBackground: '#ffffff' } });

export const EnabledThemesResponse = z
  .object({
    dark: z.boolean().default(true).describe('Whether the dark theme can be chosen.'),
    light: z.boolean().default(true).describe('Whether the light theme can be chosen.'),
  })
  .meta({ id: 'EnabledThemesResponse' });

export const EnabledThemesUpdate = z
  .object({
    dark: z.boolean().nullish().describe('Whether the dark theme can be chosen; null leaves it unchanged.'),
    light: z.boolean().nullish().describe('Whether the light theme can be chosen; null leaves it unchanged.'),
  })
  .meta({ id: 'EnabledThemesUpdate' });

export const AnimationEnabledResponse = z
  .object({ enabled: z.boolean().default(true).describe('Whether the cabinet shows an animation behind its pages.') })
  .meta({ id: 'AnimationEnabledResponse' });

export const AnimationEnabledUpdate = z
  .object({
    enabled: z
      .boolean()
      .describe(
        'Whether the cabinet shows an animation behind its pages; the configuration of the animation gets the same value.',
      ),
  })
  .meta({ id: 'AnimationEnabledUpdate' });

export const AnimationConfigResponse = z
  .object({
    enabled: z.boolean().default(true).describe('Whether the animation is shown; without it the rest has no effect.'),
    type: z.string().default('aurora').describe('Name of the animation behind the pages of the cabinet.'),
    settings: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Parameters of the animation by name; only the front end knows them.'),
    opacity: z.number().min(0).max(MAX_OPACITY).default(1).describe('Opacity, 0 to 1.'),
    blur: z.number().min(0).max(MAX_BLUR).default(0).describe('Blur in pixels, 0 to 100.'),
    reducedOnMobile: z.boolean().default(true).describe('Whether telephones show less of it.'),
  })
  .meta({ id: 'AnimationConfigResponse' });

/** Flat, because the front end knows no other form. */
const AnimationParameters = z.record(z.string(), z.unknown()).superRefine((settings, ctx) => {
  const problem = settingsProblem(settings);
  if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
});

export const AnimationConfigUpdate = z
  .object({
    enabled: z.boolean().nullish().describe('Whether it is shown; null leaves it unchanged.'),
    type: z.enum(ANIMATION_TYPES).nullish().describe('New animation behind the pages of the cabinet; null leaves it unchanged.'),
    settings: (AnimationParameters as z.ZodType<AnimationSettings>)
      .nullish()
      .describe(
        'All parameters of the animation: up to 20, names up to 50 characters, values numbers, booleans, null or texts up to 200 characters; null leaves them unchanged.',
      ),
    opacity: z.number().min(0).max(MAX_OPACITY).nullish().describe('Opacity, 0 to 1; null leaves it unchanged.'),
    blur: z.number().min(0).max(MAX_BLUR).nullish().describe('Blur in pixels, 0 to 100; null leaves it unchanged.'),
    reducedOnMobile: z.boolean().nullish().describe('Whether telephones show less of it; null leaves it unchanged.'),
  })
  .meta({ id: 'AnimationConfigUpdate' });

export const FullscreenEnabledResponse = z
  .object({
    enabled: z.boolean().default(false).describe('Whether the cabinet opens in full screen; only the front end reads it.'),
  })
  .meta({ id: 'FullscreenEnabledResponse' });

export const FullscreenEnabledUpdate = z
  .object({ enabled: z.boolean().describe('Whether the cabinet opens in full screen; only the front end reads it.') })
  .meta({ id: 'FullscreenEnabledUpdate' });

export const LiteModeEnabledResponse = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether the cabinet is shown in its simplified form; only the front end reads it.'),
  })
  .meta({ id: 'LiteModeEnabledResponse' });

export const LiteModeEnabledUpdate = z
  .object({ enabled: z.boolean().describe('Whether the cabinet is shown in its simplified form; only the front end reads it.') })
  .meta({ id: 'LiteModeEnabledUpdate' });

export const GiftEnabledResponse = z
  .object({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether gifts can be bought in the cabinet; otherwise new purchases of gifts are refused.'),
  })
  .meta({ id: 'GiftEnabledResponse' });

export const GiftEnabledUpdate = z
  .object({
    enabled: z
      .boolean()
      .describe('Whether gifts can be bought in the cabinet; false refuses new purchases of gifts immediately.'),
  })
  .meta({ id: 'GiftEnabledUpdate' });

export const EmailAuthEnabledResponse = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether users can register and sign in with an e-mail address; otherwise both are refused.'),
    verification_enabled: z.boolean().default(true).describe('Whether new addresses must be confirmed before the first sign-in.'),
  })
  .meta({ id: 'EmailAuthEnabledResponse' });

export const EmailAuthEnabledUpdate = z
  .object({
    enabled: z
      .boolean()
      .describe(
        'Whether users can register and sign in with an e-mail address; stored as the setting `CABINET_EMAIL_AUTH_ENABLED`.',
      ),
  })
  .meta({ id: 'EmailAuthEnabledUpdate' });

export const MessengerWidgetConfigResponse = z
  .object({
    bot_username: z.string().describe('Name of the bot without `@`; empty while it is not known.'),
    size: z.enum(['large', 'medium', 'small']).default('large').describe('Size of the button.'),
    radius: z.int().min(0).max(20).default(8).describe('Radius of the corners in pixels.'),
    userpic: z.boolean().default(true).describe('Whether the picture of the user is shown.'),
    request_access: z.boolean().default(true).describe('Whether the bot asks for the permission to write to the user.'),
    oidc_enabled: z.boolean().default(false).describe('Whether sign-in by OpenID Connect is offered; never without a client id.'),
    oidc_client_id: z.string().default('').describe('Client id at the messenger; empty while `oidc_enabled` is false.'),
  })
  .meta({ id: 'MessengerWidgetConfigResponse' });

export const AnalyticsCountersResponse = z
  .object({
    yandex_metrika_id: z.string().default('').describe('Number of the counter of Yandex Metrika; empty for none.'),
    google_ads_id: z.string().default('').describe('Conversion id of Google Ads, `AW-…`; empty for none.'),
    google_ads_label: z.string().default('').describe('Conversion label of Google Ads; empty for none.'),
  })
  .meta({ id: 'AnalyticsCountersResponse' });

export const AnalyticsCountersUpdate = z
  .object({
    yandex_metrika_id: z.string().nullish().describe('Up to 20 digits; empty clears it, null leaves it unchanged.'),
    google_ads_id: z
      .string()
      .nullish()
      .describe('`AW-` and up to 40 letters, digits and hyphens; empty clears it, null leaves it unchanged.'),
    google_ads_label: z
      .string()
      .nullish()
      .describe('Up to 100 letters, digits, hyphens and underscores; empty clears it, null leaves it unchanged.'),
  })
  .meta({
    id: 'AnalyticsCountersUpdate',
    example: { yandex_metrika_id: '12345678', google_ads_id: 'AW-123456789', google_ads_label: 'AbC-D_efG1' },
  });
