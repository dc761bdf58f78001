// Sends the request of a form to the hub that serves this page, and shows the answer.
const tokenInput = document.querySelector('[data-token] input');
const tokenKey = 'signalbox.docs.token';

tokenInput.value = sessionStorage.getItem(tokenKey) ?? '';
tokenInput.form.addEventListener('submit', (event) => event.preventDefault());
tokenInput.addEventListener('input', () => sessionStorage.setItem(tokenKey, tokenInput.value));

for (const form of document.querySelectorAll('form[data-path]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  form.querySelector('[data-curl]').addEventListener('click', () => {
    void navigator.clipboard.writeText(curlOf(form));
  });
}

async function send(form) {
  const output = form.querySelector('output');
  output.parentElement.hidden = false;
  output.textContent = 'Sending …';
  try {
    const response = await fetch(form.dataset.path, {
      method: 'POST',
      credentials: 'omit',
      headers: {
        'content-type': 'application/json',
        ...(tokenInput.value === '' ? {} : { authorization: `Bearer ${tokenInput.value.trim()}` }),
      },
      body: form.elements.body.value,
    });
    const answer = await response.json();
    output.textContent = `${response.status}\n${JSON.stringify(answer, null, 2)}`;
  } catch (error) {
    output.textContent = `The hub did not answer: ${error.message}`;
  }
}

function curlOf(form) {
  const body = form.elements.body.value.replaceAll("'", String.raw`'\''`);
  return `curl -s '${location.origin}${form.dataset.path}' \\
  -H "authorization: Bearer $SIGNALBOX_TOKEN" -H 'content-type: application/json' \\
  -d '${body}'`;
}
