/* How full the context is: a line of text and a bar. */
const text = element.querySelector('.attend-meter-text');
const bar = element.querySelector('.attend-meter-bar');

function draw() {
  if (!props.value) return;
  text.textContent = props.value.text;
  bar.style.setProperty('--share', props.value.share);
  bar.classList.toggle('full', props.value.share > 0.9);
}

watch('value', draw);
draw();
