/* How the conversation is written for the model: in which manner, and the exact prompt with its control tokens. */
const fold = element.querySelector('.attend-prompt');
const manner = element.querySelector('.attend-prompt-manner');
const of = element.querySelector('.attend-prompt-of');
const text = element.querySelector('.attend-prompt-text');

function draw() {
  if (!props.value) return;
  const value = JSON.parse(props.value);
  fold.hidden = !value.manner;
  manner.textContent = value.manner;
  of.textContent = value.of;
  text.replaceChildren(
    ...value.parts.map(([said, control]) => {
      const part = document.createElement(control ? 'b' : 'span');
      part.textContent = said;
      return part;
    }),
  );
}

watch('value', draw);
draw();
