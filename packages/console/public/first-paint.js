// Runs before the first paint, so that the page does not flash in another theme or width. A
// separate file, because the content security policy forbids inline scripts.
try {
  const theme = localStorage.getItem('signalbox.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  const sidebar = localStorage.getItem('signalbox.sidebar');
  if (sidebar === 'narrow') document.documentElement.dataset.sidebar = sidebar;
} catch {
  // Storage is disabled: the system's theme and the wide sidebar apply.
}
