// Shows the pages that contain every word of the search.
const search = document.getElementById('search')
const items = [...document.querySelectorAll('#pages li')]
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const item of items) item.hidden = !words.every((word) => item.dataset.words.includes(word))
  document.getElementById('nothing').hidden = items.some((item) => !item.hidden)
})
