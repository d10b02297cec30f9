import { useEffect } from 'react';
import { inkOn, readable } from './contrast.ts';
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
    const light = [colors.lightBackground, colors.lightSurface];
    const dark = [colors.darkBackground, colors.darkSurface];
    const pair = (ofLight: string, ofDark: string) => `light-dark(${ofLight}, ${ofDark})`;
    const text = (color: string) => pair(readable(color, light), readable(color, dark));
    style.setProperty('--accent', colors.accent);
    style.setProperty('--on-accent', inkOn(colors.accent));
    style.setProperty('--accent-text', text(colors.accent));
    style.setProperty('--accent-soft', `color-mix(in srgb, ${colors.accent} 10%, var(--card))`);
    style.setProperty('--ground', pair(colors.lightBackground, colors.darkBackground));
    style.setProperty('--card', pair(colors.lightSurface, colors.darkSurface));
    style.setProperty('--ink', pair(readable(colors.lightText, light), readable(colors.darkText, dark)));
    style.setProperty('--soft', pair(readable(colors.lightTextSecondary, light), readable(colors.darkTextSecondary, dark)));
    style.setProperty('--good', text(colors.success));
    style.setProperty('--bad', text(colors.error));
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
          {brand.logo_url ? (
            <img src={`${API_URL}${brand.logo_url}`} alt="" />
          ) : (
            <span aria-hidden="true">{brand.logo_letter}</span>
          )}
          {brand.name}
        </p>
      )}
    </>
  );
}
