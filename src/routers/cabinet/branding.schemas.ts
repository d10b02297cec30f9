import { z } from 'zod';
import { isUploadedFile, type UploadedFile } from '../../core/http/uploads.ts';
import { MAX_BLUR, MAX_OPACITY, settingsProblem } from '../../domain/content/branding/animation-rules.ts';
import { DEFAULT_COLORS } from '../../domain/content/branding/theme-rules.ts';
import { ANIMATION_TYPES, type AnimationSettings } from '../../domain/content/branding/types.ts';

/** Contract group `Branding` (spec 05 section 14). */

export const BrandingResponse = z
  .object({
    name: z.string(),
    logo_url: z.string().nullish(),
    logo_letter: z.string(),
    has_custom_logo: z.boolean(),
  })
  .meta({ id: 'BrandingResponse' });

export const BrandingNameUpdate = z
  .object({ name: z.string() })
  .meta({ id: 'BrandingNameUpdate', example: { name: 'Example VPN' } });

export const BrandingLogoUpload = z.object({
  file: z.custom<UploadedFile>(isUploadedFile, 'Expected an uploaded file').meta({ type: 'string', format: 'binary' }),
});

export const ThemeColorsResponse = z
  .object({
    accent: z.string().default(DEFAULT_COLORS.accent),
    darkBackground: z.string().default(DEFAULT_COLORS.darkBackground),
    darkSurface: z.string().default(DEFAULT_COLORS.darkSurface),
    darkText: z.string().default(DEFAULT_COLORS.darkText),
    darkTextSecondary: z.string().default(DEFAULT_COLORS.darkTextSecondary),
    lightBackground: z.string().default(DEFAULT_COLORS.lightBackground),
    lightSurface: z.string().default(DEFAULT_COLORS.lightSurface),
    lightText: z.string().default(DEFAULT_COLORS.lightText),
    lightTextSecondary: z.string().default(DEFAULT_COLORS.lightTextSecondary),
    success: z.string().default(DEFAULT_COLORS.success),
    warning: z.string().default(DEFAULT_COLORS.warning),
    error: z.string().default(DEFAULT_COLORS.error),
  })
  .meta({ id: 'ThemeColorsResponse' });

export const ThemeColorsUpdate = z
  .object({
    accent: z.string().nullish(),
    darkBackground: z.string().nullish(),
    darkSurface: z.string().nullish(),
    darkText: z.string().nullish(),
    darkTextSecondary: z.string().nullish(),
    lightBackground: z.string().nullish(),
    lightSurface: z.string().nullish(),
    lightText: z.string().nullish(),
    lightTextSecondary: z.string().nullish(),
    success: z.string().nullish(),
    warning: z.string().nullish(),
    error: z.string().nullish(),
  })
  .meta({ id: 'ThemeColorsUpdate', example: { accent: '#3b82f6', darkBackground: '#0f172a', lightBackground: '#ffffff' } });

export const EnabledThemesResponse = z
  .object({ dark: z.boolean().default(true), light: z.boolean().default(true) })
  .meta({ id: 'EnabledThemesResponse' });

export const EnabledThemesUpdate = z
  .object({ dark: z.boolean().nullish(), light: z.boolean().nullish() })
  .meta({ id: 'EnabledThemesUpdate' });

export const AnimationEnabledResponse = z.object({ enabled: z.boolean().default(true) }).meta({ id: 'AnimationEnabledResponse' });

export const AnimationEnabledUpdate = z.object({ enabled: z.boolean() }).meta({ id: 'AnimationEnabledUpdate' });

export const AnimationConfigResponse = z
  .object({
    enabled: z.boolean().default(true),
    type: z.string().default('aurora'),
    settings: z.record(z.string(), z.unknown()).default({}),
    opacity: z.number().min(0).max(MAX_OPACITY).default(1),
    blur: z.number().min(0).max(MAX_BLUR).default(0),
    reducedOnMobile: z.boolean().default(true),
  })
  .meta({ id: 'AnimationConfigResponse' });

/** Flat, because the front end knows no other form. */
const AnimationParameters = z.record(z.string(), z.unknown()).superRefine((settings, ctx) => {
  const problem = settingsProblem(settings);
  if (problem !== null) ctx.addIssue({ code: 'custom', message: problem });
});

export const AnimationConfigUpdate = z
  .object({
    enabled: z.boolean().nullish(),
    type: z.enum(ANIMATION_TYPES).nullish(),
    settings: (AnimationParameters as z.ZodType<AnimationSettings>).nullish(),
    opacity: z.number().min(0).max(MAX_OPACITY).nullish(),
    blur: z.number().min(0).max(MAX_BLUR).nullish(),
    reducedOnMobile: z.boolean().nullish(),
  })
  .meta({ id: 'AnimationConfigUpdate' });

export const FullscreenEnabledResponse = z
  .object({ enabled: z.boolean().default(false) })
  .meta({ id: 'FullscreenEnabledResponse' });

export const FullscreenEnabledUpdate = z.object({ enabled: z.boolean() }).meta({ id: 'FullscreenEnabledUpdate' });

export const LiteModeEnabledResponse = z.object({ enabled: z.boolean().default(false) }).meta({ id: 'LiteModeEnabledResponse' });

export const LiteModeEnabledUpdate = z.object({ enabled: z.boolean() }).meta({ id: 'LiteModeEnabledUpdate' });

export const GiftEnabledResponse = z.object({ enabled: z.boolean().default(false) }).meta({ id: 'GiftEnabledResponse' });

export const GiftEnabledUpdate = z.object({ enabled: z.boolean() }).meta({ id: 'GiftEnabledUpdate' });

export const EmailAuthEnabledResponse = z
  .object({ enabled: z.boolean().default(true), verification_enabled: z.boolean().default(true) })
  .meta({ id: 'EmailAuthEnabledResponse' });

export const EmailAuthEnabledUpdate = z.object({ enabled: z.boolean() }).meta({ id: 'EmailAuthEnabledUpdate' });

export const MessengerWidgetConfigResponse = z
  .object({
    bot_username: z.string(),
    size: z.enum(['large', 'medium', 'small']).default('large'),
    radius: z.int().min(0).max(20).default(8),
    userpic: z.boolean().default(true),
    request_access: z.boolean().default(true),
    oidc_enabled: z.boolean().default(false),
    oidc_client_id: z.string().default(''),
  })
  .meta({ id: 'MessengerWidgetConfigResponse' });

export const AnalyticsCountersResponse = z
  .object({
    yandex_metrika_id: z.string().default(''),
    google_ads_id: z.string().default(''),
    google_ads_label: z.string().default(''),
  })
  .meta({ id: 'AnalyticsCountersResponse' });

export const AnalyticsCountersUpdate = z
  .object({
    yandex_metrika_id: z.string().nullish(),
    google_ads_id: z.string().nullish(),
    google_ads_label: z.string().nullish(),
  })
  .meta({
    id: 'AnalyticsCountersUpdate',
    example: { yandex_metrika_id: '12345678', google_ads_id: 'AW-123456789', google_ads_label: 'AbC-D_efG1' },
  });
