import { useEffect } from 'react';
import { API_URL, client } from './service.ts';
import { useLoaded } from './use-loaded.ts';

/** What the administrators set: name and logo above every screen, colours of the page, the animation behind it. */
export function Branding() {
  const brand = useLoaded(() => client.api.branding.get.query()).value;
  const colors = useLoaded(() => client.api.branding.colors.query()).value;
  const animation = useLoaded(() => client.api.branding.animationConfig.query()).value;

  useEffect(() => {
    if (brand) document.title = brand.name || 'Cabinet';
  }, [brand]);

  useEffect(() => {
    if (!colors) return;
    const { style } = document.documentElement;
    const pair = (light: string, dark: string) => `light-dark(${light}, ${dark})`;
    style.setProperty('--accent', colors.accent);
    style.setProperty('--accent-soft', `color-mix(in srgb, ${colors.accent} 16%, transparent)`);
    style.setProperty('--ground', pair(colors.lightBackground, colors.darkBackground));
    style.setProperty('--card', pair(colors.lightSurface, colors.darkSurface));
    style.setProperty('--ink', pair(colors.lightText, colors.darkText));
    style.setProperty('--soft', pair(colors.lightTextSecondary, colors.darkTextSecondary));
    style.setProperty('--good', colors.success);
    style.setProperty('--bad', colors.error);
  }, [colors]);

  return (
    <>
      {animation?.enabled && (
        <div
          className="backdrop"
          aria-hidden="true"
          data-testid="backdrop"
          data-animation={animation.type}
          data-reduced={animation.reducedOnMobile}
          style={{ opacity: animation.opacity, filter: `blur(${animation.blur}px)` }}
        />
      )}
      {brand && (
        <p className="brand" data-testid="brand">
          {brand.logo_url ? <img src={`${API_URL}${brand.logo_url}`} alt="" /> : <span>{brand.logo_letter}</span>}
          {brand.name}
        </p>
      )}
    </>
  );
}
