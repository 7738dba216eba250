// Adds the theme switch, and the / key that focuses the filter. This script runs before the page is drawn, so that the page does
// not flash in another theme.
{
  const KEY = "synclag-theme";
  const THEMES = ["auto", "light", "dark"];
  const GLYPHS = ["◐", "○", "●"];
  let theme = "auto";
  try {
    theme = localStorage.getItem(KEY) ?? theme;
  } catch {
    // Storage may be disabled. Then the choice is forgotten with the page.
  }

  const apply = () => {
    document.documentElement.dataset["theme"] = theme;
  };

  const addSwitch = () => {
    const button = document.createElement("button");
    button.type = "button";
    const name = () => {
      button.textContent = GLYPHS[THEMES.indexOf(theme)] ?? "";
      button.title = `Theme: ${theme}`;
      button.ariaLabel = button.title;
    };
    name();
    button.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
      name();
      apply();
      document.dispatchEvent(new Event("theme"));
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // Storage may be disabled.
      }
    });
    document.querySelector(".top form")?.after(button);
  };

  /** @param {KeyboardEvent} event */
  const goToFilter = (event) => {
    const box = document.querySelector("#q");
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea");
    if (event.key === "/" && !isTyping && box instanceof HTMLInputElement) {
      event.preventDefault();
      box.select();
    }
  };

  apply();
  document.addEventListener("DOMContentLoaded", addSwitch);
  document.addEventListener("keydown", goToFilter);
}
