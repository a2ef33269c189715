// The host's own switch. Its labs follow, since `color-scheme` changes with it.
const root = document.documentElement;
const button = document.querySelector('#theme');
const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches);
const show = () => button.setAttribute('aria-pressed', isDark());
button.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  show();
});
show();
